package import SettleCore

/// A document of a database elsewhere: its revision tree, and those contents that were fetched. Its conflict is settled as one
/// of a database here is, and by the same revisions.
///
/// Which leaf came from a peer is not known of it, so policies that ask for sides can't be used.
package struct DocumentCopy: Sendable {
    /// The document's id.
    package let id: DocumentID
    /// Its revisions, as far as they are known; those with a body token have their content at the other database.
    package private(set) var tree = RevisionTree()
    private var contents: [RevisionID: RevisionContent] = [:]
    /// The members that every tombstone of the other database keeps.
    private let fieldsKeptOnDelete: Set<String>

    /// Makes a copy without revisions.
    ///
    /// - Parameters:
    ///   - id: The document's id.
    ///   - names: The members that every tombstone of the other database keeps.
    package init(_ id: DocumentID, fieldsKeptOnDelete names: Set<String> = []) {
        self.id = id
        fieldsKeptOnDelete = names
    }

    /// Adds a revision with its content; children are added after their ancestors, or with a history.
    ///
    /// - Parameters:
    ///   - history: The revision and its ancestors.
    ///   - isDeleted: Whether it is a tombstone.
    ///   - content: Its content; `nil` when the other database has it and it was not fetched.
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
            tree.mark(revision, .deletion)
        }
    }

    /// Says that a content is kept, whichever it is.
    private static let token = BodyToken.record
    /// The token of the first content where each has its own; those below have meanings.
    private static let firstToken = 16

    /// A revision whose content was fetched.
    package func document(_ revision: RevisionID) -> Document? {
        guard let node = tree[revision], let content = contents[revision] else { return nil }
        return Document(id: id, revision: revision, isDeleted: node.isDeleted, content)
    }

    /// Its conflict; `nil` when there is nothing to settle.
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

    /// What a policy would decide, as ``Database/preview(_:using:)`` tells it.
    ///
    /// - Throws: ``DatabaseError``.
    package func preview(using policy: ConflictPolicy) throws -> SettlementPreview? {
        guard let conflict = try conflict(kinds: policy.kinds) else { return nil }
        let hasher = RevisionHasher()
        if policy.endsRaces, let race = conflict.race {
            let plan = try SettlementPlan(race, of: conflict, hasher: hasher)
            return SettlementPreview(conflict: conflict, decision: nil, plan: plan)
        }
        let decision = try policy.decideNow(conflict)
        let plan = try SettlementPlan(
            decision.resolution, of: conflict, resolver: policy.resolver, origin: 0,
            keepingOnDelete: fieldsKeptOnDelete, hasher: hasher)
        return SettlementPreview(conflict: conflict, decision: decision, plan: plan)
    }

    /// Settles its conflict.
    ///
    /// - Parameters:
    ///   - policy: What decides.
    ///   - store: Stores the revisions at the other database.
    /// - Returns: What became of it.
    /// - Throws: ``DatabaseError``, and what `store` throws.
    package mutating func settle(
        using policy: ConflictPolicy, _ store: ([SettlementPlan.Write]) throws -> Void
    ) throws -> Settlement {
        var settlement = Settlement(id, .nothing)
        while let preview = try preview(using: policy) {
            settlement.add(preview, by: policy)
            guard preview.plan.survivor != nil else { break }
            try store(preview.plan.writes)
            settlement.wrote(preview.plan)
            for write in preview.plan.writes {
                guard let path = tree.history(of: write.parent) else { continue }
                let history = try RevisionHistory(
                    start: write.revision.generation, signatures: [write.revision.signature] + path.signatures)
                insert(
                    history, isDeleted: write.isDeleted,
                    RevisionContent(body: write.body, attachments: write.attachments))
            }
            if preview.decision != nil { break }
        }
        return settlement
    }
}
