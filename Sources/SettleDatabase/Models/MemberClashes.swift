public import SettleCore

/// The members that a model and another writer have changed to different values, since the model was read.
///
/// It is the cause of the ``DatabaseError`` with code `conflict` that a save of a ``Saved`` throws.
public struct MemberClashes: SettleError {
    /// One member.
    public struct Member: Hashable, Sendable {
        /// Its JSON Pointer; an element of a list with an identity is named by that: `/lines/7/amount`.
        public let path: String
        /// The value that was read; `nil` if there was no such member.
        public let read: JSONValue?
        /// The value that another writer has stored; `nil` if it was removed.
        public let stored: JSONValue?
        /// The value that was to be saved; `nil` if it was removed.
        public let mine: JSONValue?
    }

    /// The document.
    public let documentID: DocumentID
    /// The revision that is stored.
    public let stored: RevisionID?
    /// The members, in the order of the document.
    public let members: [Member]

    /// Each member with its three values.
    public var description: String {
        let shown = members.prefix(5).map { member in
            "\(member.path) was \(text(member.read)), is \(text(member.stored)), and would be \(text(member.mine))"
        }
        return shown.joined(separator: "; ") + (members.count > 5 ? "; and \(members.count - 5) more" : "")
    }

    private func text(_ value: JSONValue?) -> String {
        guard let text = value?.description else { return "absent" }
        return text.count > 60 ? text.prefix(60) + "…" : text
    }

    /// Makes the changes of an edit in the state that is stored now.
    ///
    /// - Parameters:
    ///   - edited: The document with the edit.
    ///   - base: The document as it was read.
    ///   - current: The document as another writer has stored it.
    ///   - isLastWriteWins: Whether the edit wins where both changed the same member.
    /// - Returns: The document to be saved on the current revision.
    /// - Throws: ``DatabaseError`` with code `conflict` and the clashes as cause.
    static func merge(
        _ edited: Document, of base: Document, into current: Document, isLastWriteWins: Bool
    ) throws -> Document {
        let (read, mine, theirs) = (members(base), members(edited), members(current))
        var rules = MergeRules(onClash: isLastWriteWins ? .winner : .leave)
        addIdentities(of: [read, mine, theirs], at: "", to: &rules)
        let outcome = ThreeWayMerge.merge(
            base: read, versions: isLastWriteWins ? [mine, theirs] : [theirs, mine], rules: rules)
        guard let merged = outcome.merged else {
            let left = outcome.decisions.filter(\.reason.isLeft).map { decision in
                Member(
                    path: decision.path, read: decision.base, stored: decision.versions.first ?? nil,
                    mine: decision.versions.last ?? nil)
            }
            let clashes = MemberClashes(documentID: base.id, stored: current.revision, members: left)
            let (readAt, storedAt) = (base.revision?.description ?? "", current.revision?.description ?? "")
            throw DatabaseError(
                .conflict,
                """
                "\(base.id)" was read at \(readAt), but \(storedAt) is stored: \(clashes); read it again and retry, or \
                say what wins
                """, cause: clashes)
        }
        var document = current
        document.json = .object(merged)
        return document
    }

    private static func members(_ document: Document) -> JSONObject { document.json.object ?? JSONObject() }

    /// Adds a rule for each list whose elements all have an identity, in all versions.
    private static func addIdentities(of versions: [JSONObject], at path: String, to rules: inout MergeRules) {
        for member in versions.first ?? JSONObject() {
            let place = MergePath.pointer(path, member.name)
            let values = versions.compactMap { $0[member.name] }
            let lists = values.compactMap(\.array)
            if lists.count == values.count, lists.contains(where: { !$0.isEmpty }) {
                let elements = lists.joined()
                let names = ["id", "_id"].filter { name in elements.allSatisfy { $0.object?[name] != nil } }
                if let name = names.first { rules[place] = .array(identifiedBy: name) }
            } else {
                let objects = values.compactMap(\.object)
                if objects.count == values.count { addIdentities(of: objects, at: place, to: &rules) }
            }
        }
    }
}
