public import SettleCore
public import SettleDatabase

/// The input of a map function: the winner of a document, and its conflicts.
public struct MapInput: Sendable {
    /// The document, with its attachments; never a deleted one.
    public let document: Document
    /// The live leaves that are not the winner, in CouchDB's order (SEMANTICS 142).
    public let conflicts: [RevisionID]
    /// The position of the document's last change in this database.
    public let sequence: UpdateSequence

    /// The document's id.
    public var id: DocumentID { document.id }

    /// One top-level member; `nil` for none.
    public subscript(name: String) -> JSON? { document[name] }

    init?(_ record: DocumentRecord) {
        guard let winner = record.tree.winner, let content = record.content else { return nil }
        document = Document(id: record.id, revision: winner.revision, isDeleted: winner.isDeleted, content)
        conflicts = record.tree.leaves.count > 1 ? record.tree.conflicts : []
        sequence = record.sequence
    }
}
