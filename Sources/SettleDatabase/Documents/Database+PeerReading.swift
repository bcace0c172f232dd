package import SettleCore

/// Batch reads for replication.
extension Database {
    /// A stored revision with its history.
    package struct StoredRevision: Sendable {
        /// The revision and its ancestors, newest first.
        package let history: RevisionHistory
        /// Whether it is a tombstone.
        package let isDeleted: Bool
        /// Its content.
        package let content: RevisionContent
        /// Its attachments that the peer already has; `nil` if the peer has no ancestor.
        package let known: KnownAttachments?
    }

    /// Compares a peer's leaves with this database: which are missing here, and which of its deletions are not marked
    /// here.
    ///
    /// - Parameter changes: For each document the peer's leaves, its winner first, and whether that is a tombstone.
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
    package func noteDeletions(_ deletions: [(id: DocumentID, revision: RevisionID)]) throws {
        guard !deletions.isEmpty else { return }
        try insertReplicated(
            deletions.map { id, revision in
                var known = ReplicatedRevision(id: id, history: RevisionHistory(revision), isDeleted: true)
                known.isDeletionAtSource = true
                return known
            })
    }

    /// Reads revisions with their contents and histories from one snapshot of the database.
    ///
    /// - Parameters:
    ///   - requests: The revisions, each with those that the peer has; those of one document are best adjacent.
    ///   - body: Called with each revision, `nil` for one that is not kept, or the error of a damaged one, until it
    ///     returns `false`.
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
                    note(error, of: id)
                    answer = .failure(error)
                }
                guard try body(answer) else { return }
            }
        }
    }

    /// The documents that are in conflict.
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

    /// The bases of a document's conflict whose contents are not kept here.
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
        return StoredRevision(history: history, isDeleted: node.isDeleted, content: content, known: atPeer)
    }
}

extension Database {
    /// The last change of a document, with all its leaves; `nil` if it was never written or was purged.
    package func change(of id: DocumentID) throws -> Change? {
        try storedRecord(of: id, withContent: false).flatMap {
            Change($0, style: .allLeaves, origin: identity)
        }
    }
}
