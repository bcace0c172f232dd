internal import SettleCore

extension Database {
    /// Lets go of contents that are not needed any more, and gives their space back to the system.
    ///
    /// Never touched are leaves, the ids of revisions, and the bases of merges: contents of branch points while a
    /// document is in conflict, and the newest revision known to a peer while there is work on top that no peer has
    /// (SEMANTICS 90, DESIGN.md 3).
    ///
    ///     1-a ── 2-b ── 3-c ─┬─ 4-d ── 5-e        kept: 5-e and 4-x, the leaves; 3-c, where they part;
    ///                        └─ 4-x               2-b or 3-c if a peer has it. Let go: 1-a, 4-d.
    ///
    /// Contents of attachments stay while several processes share the database (``DatabaseOptions/sharing``).
    ///
    /// A damaged document is gone past and named to ``DatabaseOptions/warn``; what it may still hold is kept.
    ///
    /// Other writes go on between steps; while the file is rewritten at the end they wait. It may be stopped or killed at
    /// any point and begun again.
    ///
    /// - Parameters:
    ///   - age: How long contents are kept all the same after they were superseded or lost, so that people can look at them
    ///     (SEMANTICS K4); not at all unless given. When that was is known by the compactions with an age between which it
    ///     happened: the first one lets go of nothing, and each content stays for the age and at most the time between two
    ///     compactions longer. A content also stays as long as the one that superseded it.
    ///   - progress: Called with the progress, after each step.
    /// - Returns: What was let go of.
    /// - Throws: ``DatabaseError`` with code `diskFull`, `inputOutput` or `closed`, or what `progress` throws to stop it.
    @discardableResult
    public func compact(
        keepingOldContentsFor age: Duration? = nil,
        progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) throws -> CompactionResult {
        let before = try engine.maintain(.measure).bytes + blobs.sizeOnDisk()
        var result = CompactionResult()
        let newest = try age.map { try newestOldContent(for: $0) } ?? .max
        result.contents = try compactContents(through: newest, progress) + removeLostContents()
        // Another process may be about to save a document with a content that no document holds yet.
        if options.sharing == nil { result.blobs = try collectBlobs(progress) }
        try noteCompactedSize()
        try progress(MaintenanceProgress("rewriting the file", 0, of: 1))
        if try engine.maintain(.reclaimSpace).isDurable, options.sharing == nil { try collectStoredBlobs() }
        try progress(MaintenanceProgress("rewriting the file", 1, of: 1))
        result.bytes = try before - engine.maintain(.measure).bytes - blobs.sizeOnDisk()
        return result
    }

    /// Compacts the database off the caller's thread, until the task is cancelled.
    ///
    /// It does what ``compact(keepingOldContentsFor:progress:)-(_,(MaintenanceProgress)->Void)`` does. If the task is cancelled, it
    /// ends after the step at work, and what was let go of until then is gone.
    ///
    /// - Parameters:
    ///   - age: How long superseded contents are kept; not at all unless given.
    ///   - progress: Called with the progress on another thread, after each step.
    /// - Returns: What was let go of.
    /// - Throws: `CancellationError`; ``DatabaseError`` with code `diskFull`, `inputOutput` or `closed`; what `progress` throws.
    @discardableResult
    public func compact(
        keepingOldContentsFor age: Duration? = nil,
        progress: @escaping @Sendable (MaintenanceProgress) throws -> Void = { _ in }
    ) async throws -> CompactionResult {
        try await perform { database, cancellation in
            try database.compact(keepingOldContentsFor: age) {
                try progress($0)
                try cancellation.check()
            }
        }
    }

    private func compactContents(
        through newest: UInt64, _ progress: (MaintenanceProgress) throws -> Void
    ) throws -> Int {
        let total = try engine.read { try $0.count(.documents(DocumentRange())) }
        var removed = 0
        var seen = 0
        var range = DocumentRange()
        while true {
            let ids = noting(try engine.read { try $0.records(in: range, limit: 500, withContent: false) })
            guard let last = ids.last else { return removed }
            let candidates = ids.filter { !removable(in: $0.tree, through: newest).isEmpty }.map(\.id)
            if !candidates.isEmpty {
                removed += try engine.hold { writer in
                    try candidates.reduce(0) { sum, id in
                        do { return try sum + compactContents(of: id, through: newest, in: writer) } catch let error
                            as DatabaseError
                            where error.code == .damagedDocument
                        {
                            note(error, of: id)
                            return sum
                        }
                    }
                }
            }
            range.after = last.id
            seen += ids.count
            try progress(MaintenanceProgress("old revisions", seen, of: total))
        }
    }

    private func compactContents(
        of id: DocumentID, through newest: UInt64, in writer: any StorageWriter
    ) throws -> Int {
        guard var record = try writer.record(of: id, withContent: true) else { return 0 }
        // What a branch was closed for is a base too, and stands in the tombstones.
        let conflict = try conflict(in: record, [.branches], writer)
        let bases = Set(conflict?.steps?.compactMap(\.base) ?? [])
        let needed = Set(try pendingCache?.stored(of: id, in: writer).flatMap { $0.needed(in: record.tree) } ?? [])
        let removable = removable(in: record.tree, through: newest).filter {
            !bases.contains($0.revision) && !needed.contains($0.revision)
        }
        for node in removable {
            try writer.removeContent(at: node.bodyToken)
            record.tree.setBodyToken(BodyToken.none, of: node.revision)
        }
        if !removable.isEmpty { try writer.updateTree(of: record) }
        return removable.count
    }

    /// The inner revisions whose contents are not needed, as far as they were superseded before a content was kept apart.
    ///
    /// A content that was the winner's is kept apart when it is superseded; what superseded another one is kept apart itself,
    /// unless it is the winner.
    private func removable(in tree: RevisionTree, through newest: UInt64) -> [RevisionNode] {
        let all = Self.removable(in: tree, hasJournal: pendingCache != nil)
        guard newest < .max, !all.isEmpty else { return all }
        let young = Set(tree.allNodes.filter { $0.bodyToken > newest }.compactMap { tree.parent(of: $0.revision) })
        return all.filter { $0.bodyToken <= newest && !young.contains($0.revision) }
    }

    /// The inner revisions whose contents are kept and not needed. With a journal those no peer has are needed: one that was
    /// undone may be on its way to a peer, and what it was tells then what the undoing changed.
    static func removable(in tree: RevisionTree, hasJournal: Bool = false) -> [RevisionNode] {
        let kept = tree.allNodes.filter { node in
            !node.isLeaf && node.bodyToken >= BodyToken.firstApart && (node.isShared || !hasJournal)
        }
        guard !kept.isEmpty else { return [] }
        var bases = Set(tree.branchPoints)
        for leaf in tree.leaves where !leaf.isShared {
            if let base = tree.sharedAncestor(of: leaf.revision) { bases.insert(base) }
        }
        return kept.filter { !bases.contains($0.revision) }
    }
}
