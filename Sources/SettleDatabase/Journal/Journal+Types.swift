public import SettleCore

extension Journal {
    /// The pending changes, as type → id → changes of attributes (SEMANTICS 149).
    ///
    ///     let changes = try journal.pendingByType()
    ///     changes["envelopes"]?["17bb2c1c-313d-41a6-ae31-c90785155687"]      // [name = "A New Name"]
    ///
    /// The type is the document's current one, or the last one before it was deleted. Documents without a type are
    /// under the empty name. A document that is to be deleted has no changes.
    ///
    /// - Parameter member: The member with the type, which is not among the changes.
    /// - Returns: The changes of each document of each type, in the order in which attributes were first changed.
    /// - Throws: ``DatabaseError`` if the storage fails.
    /// - Complexity: O(*n* log *m*) for *n* pending documents of *m*; ``pending`` reads no documents.
    public func pendingByType(
        _ member: String = "type"
    ) throws -> [String: [DocumentID: [PendingChange.Attribute]]] {
        try database.snapshot {
            var types: [String: [DocumentID: [PendingChange.Attribute]]] = [:]
            for change in pending {
                let attributes = change.attributes.filter { !$0.name.utf8.elementsEqual(member.utf8) }
                types[try type(of: change, member), default: [:]][change.documentID] = attributes
            }
            return types
        }
    }

    private func type(of change: PendingChange, _ member: String) throws -> String {
        if let document = try database.document(change.documentID) { return document[member]?.string ?? "" }
        return try history(of: change.documentID).last?.old?.body[member]?.string ?? ""
    }
}
