package import SettleCore

/// A document of a database elsewhere: its revision tree, and those contents that were fetched.
package struct DocumentCopy: Sendable {
    /// The document's id.
    package let id: DocumentID
    /// Its revisions, as far as they are known. A revision with a body token has its content at the other database.
    package private(set) var tree = RevisionTree()
    /// Whether the other database said which leaves came from elsewhere. Policies that depend on it can't be used otherwise.
    package var knowsSides = false
    private var contents: [RevisionID: RevisionContent] = [:]

    /// Makes a copy without revisions.
    package init(_ id: DocumentID) { self.id = id }

    /// Adds a revision with its content. Children are added after their ancestors, or with a history.
    ///
    /// - Parameters:
    ///   - history: The revision and its ancestors.
    ///   - isDeleted: Whether it is a tombstone.
    ///   - content: Its content; `nil` if it is at the other database and was not fetched.
    ///   - isDeletionAtSource: Whether it is a tombstone and the other database's winner.
    package mutating func insert(
        _ history: RevisionHistory, isDeleted: Bool, _ content: RevisionContent?, isDeletionAtSource: Bool = false
    ) {
        let revision = history.revision
        _ = tree.insert(history, isDeleted: isDeleted)
        tree.setDeleted(isDeleted, of: revision)
        tree.setBodyToken(Self.token, of: revision)
        if let content { contents[revision] = content }
        guard isDeleted, let content else { return }
        if ClosingTombstone(content.body) != nil {
            tree.mark(revision, .closing)
        } else if isDeletionAtSource {
            mark(revision, .deletion)
        }
    }

    /// Marks a revision as the other database does.
    package mutating func mark(_ revision: RevisionID, _ marks: RevisionMarks) { tree.mark(revision, marks) }

    /// The token for any content that is kept.
    private static let token = BodyToken.record
    /// The token of the first content, if each has its own token; lower ones have special meanings.
    private static let firstToken = 16

    /// The document at a revision whose content was fetched; otherwise `nil`.
    package func document(_ revision: RevisionID) -> Document? {
        guard let node = tree[revision], let content = contents[revision] else { return nil }
        return Document(id: id, revision: revision, isDeleted: node.isDeleted, content)
    }

    /// Its conflict; `nil` if there is nothing to settle.
    ///
    /// - Throws: ``DatabaseError``.
    package func conflict(kinds: Set<ConflictKind> = Set(ConflictKind.allCases)) throws -> Conflict? {
        var numbered = tree
        let revisions = tree.revisions
        for (index, revision) in revisions.enumerated() {
            let token = contents[revision] == nil ? BodyToken.none : UInt64(index + Self.firstToken)
            numbered.setBodyToken(token, of: revision)
        }
        let record = DocumentRecord(id: id, sequence: UpdateSequence(0), tree: numbered, content: nil)
        return try Conflict(record, concerns: kinds, origin: 0) { token in
            token == BodyToken.none ? nil : contents[revisions[Int(token) - Self.firstToken]]
        }
    }
}

// MARK: - RemoteSource

/// A document of a database with CouchDB's HTTP API. There a write can't depend on all leaves: a plan is always
/// written, and a leaf that arrived since the document was read is in conflict with the survivor.
package struct RemoteSource: SettlementSource {
    /// The document, with the revisions that were written since it was read.
    package private(set) var copy: DocumentCopy
    package let origin: UInt64 = 0
    private let attributesKept: () throws -> Set<String>
    private let store: (DocumentCopy, [SettlementPlan.Write]) throws -> Void

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - copy: The document as it was read.
    ///   - names: Returns the top-level members that every tombstone of the other database keeps.
    ///   - store: Stores revisions of a document at the other database.
    package init(
        _ copy: DocumentCopy, attributesKeptOnDelete names: @escaping () throws -> Set<String>,
        store: @escaping (DocumentCopy, [SettlementPlan.Write]) throws -> Void = { _, _ in }
    ) {
        (self.copy, attributesKept, self.store) = (copy, names, store)
    }

    package func conflict(_ kinds: Set<ConflictKind>) throws -> Conflict? { try copy.conflict(kinds: kinds) }

    package func attributesKeptOnDelete() throws -> Set<String> { try attributesKept() }

    package mutating func write(_ preview: SettlementPreview, by policy: ConflictPolicy) throws -> Bool {
        try store(copy, preview.plan.writes)
        for write in preview.plan.writes {
            guard let path = copy.tree.history(of: write.parent) else { continue }
            let history = try RevisionHistory(
                start: write.revision.generation, signatures: [write.revision.signature] + path.signatures)
            copy.insert(
                history, isDeleted: write.isDeleted, RevisionContent(body: write.body, attachments: write.attachments))
        }
        return true
    }
}
