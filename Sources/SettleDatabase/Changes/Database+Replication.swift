public import SettleCore

extension Database {
    /// Stores revisions from peers, with their histories: a write with `new_edits=false`.
    ///
    /// It never conflicts and never computes a revision id (SEMANTICS 199); a known revision changes nothing (200).
    /// Validations run, and a refused revision does not affect the rest (117). All revisions are stored in one
    /// transaction.
    ///
    /// - Returns: The outcome of each revision, in order.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails; nothing is written then.
    @discardableResult
    public func insertReplicated(_ revisions: [ReplicatedRevision]) throws -> [ReplicatedRevision.Outcome] {
        try insertReplicated(revisions, refusingBranches: false)
    }

    /// Stores revisions like ``insertReplicated(_:)``.
    ///
    /// - Parameters:
    ///   - revisions: The revisions.
    ///   - refusingBranches: Whether revisions are refused with code `conflict` if they don't descend from the
    ///     winner here, or would leave several live leaves; see ``DocumentEditor/refuseBranches(_:)``. This is
    ///     checked within the transaction.
    ///   - leavingConflicts: Whether live leaves that existed before do not count as branches.
    ///   - check: Called for each revision whose content is stored.
    /// - Returns: The outcome of each revision, in order.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails, ``WriteCheck/IsOld``; nothing is written then.
    package func insertReplicated(
        _ revisions: [ReplicatedRevision], refusingBranches: Bool, leavingConflicts: Bool = false,
        asking check: WriteCheck? = nil
    ) throws -> [ReplicatedRevision.Outcome] {
        try commit { [self] editor in
            try editor.begin(check)
            try editor.prepare(revisions.map(\.id), withContent: true)
            let refusals =
                refusingBranches ? try editor.refuseBranches(revisions, leavingConflicts: leavingConflicts) : [:]
            return try revisions.enumerated().map { index, revision in
                do {
                    guard !revision.id.isLocal else {
                        throw DatabaseError(.invalid, "\"\(revision.id)\" is local and does not replicate")
                    }
                    if let refusal = refusals[revision.id] { throw refusal }
                    let outcome = try editor.asking(check, at: index).insert(revision)
                    try forget(revision.replaced, of: revision.id, with: editor)
                    return outcome
                } catch let error as DatabaseError where error.code.isOfOneDocument { return .refused(error) }
            }
        }
    }

    /// Returns the revisions of a peer that are not here: CouchDB's `_revs_diff`.
    ///
    /// - Parameter revisions: For each document the revisions the peer has.
    /// - Returns: The missing revisions, in the given order, without documents of which nothing is missing.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    /// - Complexity: O(*k* log *n*) for *k* documents asked about.
    package func revisionsDiff(
        _ revisions: [(id: DocumentID, revisions: [RevisionID])]
    ) throws -> [RevisionsDiff] {
        try withTrees(of: revisions.map(\.id)) { tree in
            try revisions.compactMap { id, wanted in
                let tree = try tree(id) ?? RevisionTree()
                let missing = tree.missing(from: wanted)
                guard !missing.isEmpty else { return nil }
                return RevisionsDiff(
                    id: id, missing: missing, possibleAncestors: tree.possibleAncestors(of: missing))
            }
        }
    }

    /// Lends a closure what reads the trees of some documents, all of them in one state of the database.
    private func withTrees<Result>(
        of ids: [DocumentID], _ body: (_ tree: (DocumentID) throws -> RevisionTree?) throws -> Result
    ) throws -> Result {
        try engine.snapshot { reader in
            try capabilities.prefetching?.prepare(ids, withContent: false)
            return try body { try reader.storedRecord(of: $0, withContent: false)?.tree }
        }
    }

    /// A leaf that decides what a document is here, and the revision that a peer had when its edits were made, if one had any.
    package typealias EditedLeaf = (leaf: RevisionID, origin: RevisionID?)

    /// Returns the leaves that decide the state of a document here and that a peer's revision does not descend
    /// from.
    ///
    /// - Parameter revisions: The peer's revisions with their ancestors.
    /// - Returns: For each revision the live leaves, or the winner of a deleted document.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    package func leaves(beside revisions: [(id: DocumentID, history: RevisionHistory)]) throws -> [[EditedLeaf]] {
        try withTrees(of: revisions.map(\.id)) { tree in
            try revisions.map { id, history in
                let tree = try tree(id) ?? RevisionTree()
                let live = tree.leaves.filter { !$0.isDeleted }
                let leaves = live.isEmpty ? [tree.winner].compactMap(\.self) : live
                let known = Set(history.revisions)
                return leaves.map(\.revision).filter { !known.contains($0) }.map { ($0, tree.sharedAncestor(of: $0)) }
            }
        }
    }

    /// Records that a peer acknowledged revisions. Three-way merges may need their contents as merge bases, so
    /// compaction keeps them while they have descendants that no peer has.
    package func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) throws {
        // Most are known to be shared when a replication restarts, and a write would wait for other writers.
        let news = try withTrees(of: revisions.map(\.id)) { tree in
            try revisions.filter { id, revision in try tree(id)?[revision]?.isShared == false }
        }
        guard !news.isEmpty else { return }
        try commit { editor in
            try editor.prepare(news.map(\.id), withContent: false)
            for (id, revision) in news {
                guard var record = try editor.writer.record(of: id, withContent: false) else { continue }
                guard record.tree.markShared(revision) else { continue }
                try editor.writer.updateTree(of: record)
                try editor.journal?.acknowledge(revision, in: record, with: editor)
            }
        }
    }
}

extension DocumentEditor {
    /// Finds the documents whose revisions are refused because they would create a branch.
    ///
    /// All of a document's revisions are accepted, or all are refused. They are accepted if the winner here is in
    /// one of their histories, and at most one leaf is live afterwards. So an edit is accepted, and so is a settled
    /// conflict, whichever side its winner was on:
    ///
    ///     here   1-a     received   1-b ── 2-m               stored: 1-a was known, and one leaf is live
    ///                               1-a ── 2-t ($closed)
    ///
    /// A peer that does not see the other live leaves here can't settle them; its edit of the winner leaves them
    /// unchanged.
    fileprivate func refuseBranches(
        _ revisions: [ReplicatedRevision], leavingConflicts: Bool
    ) throws -> [DocumentID: DatabaseError] {
        var refusals: [DocumentID: DatabaseError] = [:]
        for (id, group) in Dictionary(grouping: revisions, by: \.id) {
            var tree = try writer.storedRecord(of: id, withContent: false)?.tree ?? RevisionTree()
            let news = group.filter { !tree.contains($0.history.revision) }
            guard !news.isEmpty else { continue }
            let winner = tree.winner?.revision
            let isKnown = winner.map { winner in news.contains { $0.history.revisions.contains(winner) } } ?? true
            let allowed = leavingConflicts ? tree.conflicts.count : 0
            for revision in news { tree.insert(revision.history, isDeleted: revision.isDeleted) }
            guard !isKnown || tree.conflicts.count > allowed else { continue }
            let stored = winner.map { "\($0) is stored" } ?? "they are two live branches"
            refusals[id] = DatabaseError(
                .conflict,
                """
                \(news[0].history.revision) of \"\(id)\" was made apart from what is here, \(stored), and branches are \
                refused; pull, settle, and push again
                """)
        }
        return refusals
    }
}

// MARK: - Peer Reading

/// Batch reads for replication.
extension Database {
    /// A stored revision, and the attachments that the peer already has; `nil` if the peer has no ancestor.
    package typealias StoredRevision = (revision: ReplicatedRevision, known: KnownAttachments?)

    /// Compares a peer's leaves with this database. It finds the leaves that are missing here, and the peer's
    /// deletions that are not marked as deletions here.
    ///
    /// - Parameter changes: For each document, the peer's leaves, its winner first, and whether the winner is a
    ///   tombstone.
    /// - Returns: A row for each document with missing revisions, in order; and the tombstones that are here but not
    ///   marked as a user's deletion (SEMANTICS K2).
    /// - Throws: ``DatabaseError`` if the storage fails.
    package func differences(
        from changes: [(id: DocumentID, leaves: [RevisionID], isDeleted: Bool)]
    ) throws -> (missing: [RevisionsDiff], deletions: [(id: DocumentID, revision: RevisionID)]) {
        try engine.snapshot { reader in
            var rows: [RevisionsDiff] = []
            var deletions: [(id: DocumentID, revision: RevisionID)] = []
            for (id, leaves, isDeleted) in changes {
                guard let tree = try reader.storedRecord(of: id, withContent: false)?.tree else {
                    if !leaves.isEmpty { rows.append(RevisionsDiff(id: id, missing: leaves)) }
                    continue
                }
                let missing = tree.missing(from: leaves)
                if !missing.isEmpty {
                    rows.append(
                        RevisionsDiff(id: id, missing: missing, possibleAncestors: tree.possibleAncestors(of: missing)))
                }
                if isDeleted, let winner = leaves.first, let node = tree[winner], node.isLeaf, node.isDeleted,
                    node.marks.isDisjoint(with: [.closing, .deletion])
                {
                    deletions.append((id, winner))
                }
            }
            return (rows, deletions)
        }
    }

    /// Marks tombstones as users' deletions, because a peer reports these documents as deleted.
    package func markDeletions(_ deletions: [(id: DocumentID, revision: RevisionID)]) throws {
        guard !deletions.isEmpty else { return }
        try insertReplicated(
            deletions.map { id, revision in
                ReplicatedRevision(
                    id: id, history: RevisionHistory(revision), isDeleted: true, isDeletionAtSource: true)
            })
    }

    /// Reads revisions with their contents and histories from one snapshot of the database.
    ///
    /// - Parameters:
    ///   - requests: The revisions to read, each with the revisions that the peer has. Requests for the same
    ///     document are best adjacent.
    ///   - body: Called with each revision until it returns `false`; with `nil` for a revision that is not kept,
    ///     and with the error of a damaged one.
    /// - Throws: ``DatabaseError`` if the storage fails, or errors of `body`.
    package func forEachRevision(
        _ requests: [(id: DocumentID, revision: RevisionID, known: [RevisionID])],
        _ body: (Result<StoredRevision?, DatabaseError>) throws -> Bool
    ) throws {
        try engine.snapshot { reader in
            var last: DocumentRecord?
            for (id, revision, known) in requests {
                let record = last?.id == id ? last : try reader.storedRecord(of: id, withContent: true)
                last = record
                let answer: Result<StoredRevision?, DatabaseError>
                do {
                    answer = .success(try record.flatMap { try Self.stored(revision, in: $0, known, reader) })
                } catch let error as DatabaseError where error.code == .damagedDocument {
                    report(error, of: id)
                    answer = .failure(error)
                }
                guard try body(answer) else { return }
            }
        }
    }

    /// Returns the documents that are in conflict.
    package func conflicted(
        among ids: [DocumentID], _ kinds: Set<ConflictKind>
    ) throws -> [DocumentID] {
        try engine.snapshot { reader in
            try ids.filter { id in
                guard let tree = try reader.storedRecord(of: id, withContent: false)?.tree, tree.count > 1 else {
                    return false
                }
                return !Conflict.revisions(in: tree, kinds).isEmpty
            }
        }
    }

    /// The bases of a document's conflict whose contents are missing here.
    package func missingBases(of id: DocumentID) throws -> [RevisionID] {
        try engine.snapshot { reader in
            guard let tree = try reader.storedRecord(of: id, withContent: false)?.tree else { return [] }
            return tree.branchPoints.filter { tree[$0]?.bodyToken == BodyToken.none }
        }
    }

    private static func stored(
        _ revision: RevisionID, in record: DocumentRecord, _ known: [RevisionID], _ reader: any StorageReader
    ) throws -> StoredRevision? {
        guard let node = try record.checkedTree().tree[revision], let history = record.tree.history(of: revision),
            let content = try reader.content(of: node, in: record)
        else { return nil }
        let atPeer =
            content.attachments.isEmpty
            ? nil
            : try KnownAttachments(of: known, in: history) { ancestor in
                try record.tree[ancestor].flatMap { try reader.content(of: $0, in: record) }
            }
        return (
            ReplicatedRevision(
                id: record.id, history: history, isDeleted: node.isDeleted, body: content.body,
                attachments: content.attachments), atPeer
        )
    }
}

extension Database {
    /// The last change of a document, with all its leaves; `nil` if the document was never written or was purged.
    package func change(of id: DocumentID) throws -> Change? {
        try storedRecord(of: id, withContent: false).flatMap {
            Change($0, style: .allLeaves, origin: identity)
        }
    }
}
