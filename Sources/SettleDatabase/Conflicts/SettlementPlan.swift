public import SettleCore

/// The revisions that settle a conflict. They are a pure function of the conflict and its resolution, so every
/// replica with the same leaves writes the same revisions (SEMANTICS 82, 83).
///
///     3-c ── 4-m        the result, a child of the winner, unless the winner itself stays
///     3-x ── 4-deleted  {"$closed":"4-m"}
///     3-a ── 4-deleted  {"$closed":"4-m"}
///
/// A plan never closes a leaf in favor of a lower live leaf, and it writes a survivor of a disputed deletion again.
/// So at least one live leaf survives any number of independent plans, whatever leaves each replica had seen,
/// unless all plans decided for a deletion.
public struct SettlementPlan: Sendable {
    /// One revision to be written.
    public struct Write: Sendable {
        /// The revision's id.
        public let revision: RevisionID
        /// The leaf it is written on.
        public let parent: RevisionID
        /// Whether it is a tombstone.
        public let isDeleted: Bool
        /// Its members.
        public let body: DocumentBody
        /// Its attachments.
        public let attachments: [DocumentAttachment]
    }

    /// The revisions in write order: the result, if it is new, and the closing tombstones. A result that deletes the
    /// document comes last.
    public private(set) var writes: [Write] = []
    /// The revision that replaces all leaves; `nil` if the conflict is left.
    public private(set) var survivor: RevisionID?
    /// Non-fatal warnings.
    public private(set) var warnings: [String] = []

    private let conflict: Conflict
    private let resolver: ResolverIdentity?

    /// Plans the revisions for a resolution. A deletion asks for the names of the attributes that it keeps.
    ///
    /// - Throws: ``DatabaseError`` with code `foreignDocument` or `invalid` for a resolution that can't be carried out.
    init(
        _ resolution: Resolution, of conflict: Conflict, resolver: ResolverIdentity?, origin: UInt64,
        keepingOnDelete names: () throws -> Set<String>
    ) throws {
        self.conflict = conflict
        self.resolver = resolver
        switch resolution {
        case .leaveConflicted: break
        case .keep(let revision): try keep(revision)
        case .merged(let body, let attachments): try write(body, attachments)
        case .document(let document): try adopt(document, origin, keepingOnDelete: names)
        case .delete: try delete(keepingOnDelete: names)
        }
    }

    /// Plans the settlement of racing answers, as if they were all the leaves.
    init(_ race: Conflict.Race, of conflict: Conflict) throws {
        self.conflict = conflict
        resolver = nil
        guard let highest = race.answers.first, let content = conflict.leaf(race.survivor) else { return }
        survivor =
            highest == race.survivor
            ? highest : try add(content.body(), content.attachments, on: highest, isDeleted: false)
        try close(Array(race.answers.dropFirst()))
    }

    private mutating func keep(_ revision: RevisionID) throws {
        guard let leaf = conflict.leaf(revision) else {
            throw DatabaseError(
                .invalid,
                """
                \(revision) is not a leaf of the conflict of \"\(conflict.documentID)\"; there are \
                \(conflict.revisions.map(\.description).joined(separator: ", "))
                """)
        }
        guard leaf.isDeleted else { return try write(leaf.body(), leaf.attachments) }
        survivor = revision
        try close(conflict.liveLeaves.compactMap(\.revision))
    }

    private mutating func adopt(
        _ document: Document, _ origin: UInt64, keepingOnDelete names: () throws -> Set<String>
    ) throws {
        guard document.origin == 0 || document.origin == origin else {
            throw DatabaseError(
                .foreignDocument,
                """
                the resolver of \"\(conflict.documentID)\" returned a document that was read from another database; make a \
                new one of its members
                """)
        }
        if document.id != conflict.documentID {
            warnings.append(
                """
                the resolver of \"\(conflict.documentID)\" returned a document with the id \"\(document.id)\"; its content \
                is saved as \"\(conflict.documentID)\"
                """)
        } else if let leaf = conflict.leaf(document.revision), let revision = leaf.revision,
            try leaf.body() == document.body(), leaf.attachments == document.attachments
        {
            return try keep(revision)
        }
        if document.isDeleted { return try delete(keepingOnDelete: names) }
        try write(document.body(), document.attachments)
    }

    /// Writes the result: the winner itself if it has that content, otherwise a child of it.
    ///
    /// If the winner contradicts a deletion, the result is always written again. Another replica may concurrently
    /// keep the deletion and close the winner; the edit would then be lost although no replica decided so.
    private mutating func write(
        _ body: DocumentBody, _ attachments: [DocumentAttachment]
    ) throws {
        guard let winner = conflict.winner.revision else { return }
        try body.check(of: conflict.documentID)
        let isKept = try conflict.deletions.isEmpty && isWinner(body, attachments)
        survivor = isKept ? winner : try add(body, attachments, on: winner, isDeleted: false)
        try close(conflict.revisions.filter { $0 != winner }, isKept: isKept)
    }

    /// Whether a content is the winner's. Replicas may store the winner's body in different spellings, so the input
    /// of the revision id is compared.
    private func isWinner(
        _ body: DocumentBody, _ attachments: [DocumentAttachment]
    ) throws -> Bool {
        let (winner, signatures) = (try conflict.winner.body(), attachments.map(\.signature))
        guard conflict.winner.attachments.map(\.signature) == signatures else { return false }
        func hash(_ body: DocumentBody) -> RevisionID {
            RevisionHasher().revision(of: body, parent: nil, isDeleted: false, attachments: signatures)
        }
        return winner == body || hash(winner) == hash(body)
    }

    private mutating func delete(keepingOnDelete names: () throws -> Set<String>) throws {
        if let deletion = conflict.deletions.first?.revision { return try keep(deletion) }
        guard let winner = conflict.winner.revision else { return }
        let body = try TombstoneContent(keeping: KeptAttributes(names())).body(of: conflict.winner.body())
        survivor = try add(body, [], on: winner, isDeleted: true)
        let deletion = writes.removeLast()
        try close(conflict.revisions.filter { $0 != winner })
        writes.append(deletion)
    }

    private mutating func close(
        _ leaves: [RevisionID], isKept: Bool = false
    ) throws {
        guard let survivor else { return }
        let body = try ClosingTombstone(survivor: survivor, isKept: isKept, resolver: resolver).body()
        for leaf in leaves { _ = try add(body, [], on: leaf, isDeleted: true) }
    }

    private mutating func add(
        _ body: DocumentBody, _ attachments: [DocumentAttachment], on parent: RevisionID, isDeleted: Bool
    ) throws -> RevisionID {
        guard parent.generation < RevisionID.maximumGeneration else {
            throw DatabaseError(.invalid, "\"\(conflict.documentID)\" has reached the highest generation there is")
        }
        let revision = RevisionHasher().revision(
            of: body, parent: parent, isDeleted: isDeleted, attachments: attachments.map(\.signature))
        writes.append(
            Write(revision: revision, parent: parent, isDeleted: isDeleted, body: body, attachments: attachments))
        return revision
    }
}

// MARK: - Settle

extension DocumentEditor {
    /// Writes the revisions that settle a conflict. The document's record is written once, with all of them.
    func write(_ plan: SettlementPlan, of id: DocumentID) throws {
        guard !plan.writes.isEmpty, let old = try writer.record(of: id, withContent: true) else { return }
        try withoutJournal.carryOut(plan, in: old)
        guard let journal, let new = try writer.record(of: id, withContent: true) else { return }
        try journal.settle(new, from: old.tree.leaves, with: self)
    }

    private func carryOut(_ plan: SettlementPlan, in old: DocumentRecord) throws {
        var record = old
        let id = record.id
        if plan.writes.contains(where: { record.tree.contains($0.revision) }) {
            // A peer may have made some of these revisions before, on a parent that was unknown here until now.
            for write in plan.writes { try self.write(write, of: id) }
            return
        }
        for write in plan.writes {
            let before = write.attachments.isEmpty ? nil : try content(of: write.parent, in: record)
            let attachments = try settled(
                write.attachments, of: id, before: before, generation: write.revision.generation)
            let edit = Edit(
                revision: write.revision, parent: write.parent, isDeleted: write.isDeleted,
                content: RevisionContent(body: write.body, attachments: attachments), origin: .local)
            try apply(edit, to: &record)
        }
        if record.id.isDesign { designChanges.markPending() }
        try writer.put(record)
    }

    /// Closes the deletions that a document has in addition to the tombstone it was revived on. A writer that
    /// revives the document has seen it deleted; if the other deletions stayed open, they would contradict the new
    /// edit on peers that know only parts of the tree. If a validation refuses to close a deletion, that one stays
    /// open. The write check is not called for these tombstones, because this function creates their bodies.
    ///
    ///     1-a ─┬─ 2-t deleted ── 3-deleted  $closed 4-new
    ///          └─ 2-y ── 3-deleted  $closed 2-t  ── 4-new
    func closeDeletions(of id: DocumentID, for survivor: RevisionID) throws {
        guard let tree = try writer.record(of: id, withContent: true)?.tree else { return }
        // A tombstone of the highest generation can have no child, and stays open.
        let open = tree.leaves.filter {
            $0.isDeleted && !$0.marks.contains(.closing) && $0.revision.generation < RevisionID.maximumGeneration
        }
        guard !open.isEmpty else { return }
        let body = try ClosingTombstone(survivor: survivor).body()
        for node in open {
            let revision = RevisionHasher().revision(of: body, parent: node.revision, isDeleted: true, attachments: [])
            let closing = SettlementPlan.Write(
                revision: revision, parent: node.revision, isDeleted: true, body: body, attachments: [])
            do { try write(closing, of: id) } catch let error as DatabaseError where error.code == .refused {}
        }
    }

    private func write(_ write: SettlementPlan.Write, of id: DocumentID) throws {
        let record = try writer.storedRecord(of: id, withContent: true)?.checkedTree()
        var editor = withoutClocks
        editor.question = nil
        let edit = DocumentEdit(
            id: id, parent: write.parent, isDeleted: write.isDeleted, body: write.body, attachments: write.attachments)
        _ = try editor.edit(edit, in: record)
    }
}
