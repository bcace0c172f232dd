internal import SettleCore

extension Database {
    /// Lets go of contents that are no longer needed, and gives their space back to the system.
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
    ///     (SEMANTICS K4); not at all by default. When that was is known by the compactions with an age between which it
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
        let before = try capabilities.maintain(.measure).bytes + blobs.sizeOnDisk()
        var result = CompactionResult()
        let newest = try age.map { try newestOldContent(for: $0) } ?? .max
        result.contents = try compactContents(through: newest, progress) + removeLostContents()
        // Another process may be about to save a document with a content that no document holds yet.
        if options.sharing == nil { result.blobs = try collectBlobs(progress) }
        try recordCompactedSize()
        try progress(MaintenanceProgress("rewriting the file", 0, of: 1))
        if try capabilities.maintain(.reclaimSpace).isDurable, options.sharing == nil { try collectStoredBlobs() }
        try progress(MaintenanceProgress("rewriting the file", 1, of: 1))
        result.bytes = try before - capabilities.maintain(.measure).bytes - blobs.sizeOnDisk()
        return result
    }

    /// Compacts the database off the caller's thread, until the task is cancelled.
    ///
    /// It does what ``compact(keepingOldContentsFor:progress:)-(_,(MaintenanceProgress)->Void)`` does. If the task is cancelled, it
    /// ends after the step at work, and what was let go of until then is gone.
    ///
    /// - Parameters:
    ///   - age: How long superseded contents are kept; not at all by default.
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
                            report(error, of: id)
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

// MARK: - CompactionResult

/// What a compaction let go of.
public struct CompactionResult: Sendable, Hashable {
    /// Contents of revisions that are neither leaves nor the base of a merge.
    public var contents = 0
    /// Contents of attachments that no kept revision holds.
    public var blobs = 0
    /// By how much the database became smaller on disk, in bytes.
    public var bytes: Int64 = 0
}

// MARK: - MaintenanceProgress

/// The progress of a long operation.
public struct MaintenanceProgress: Sendable, Hashable {
    /// The current phase, in a word or two.
    public let phase: String
    /// The completed part of this phase.
    public let completed: Int
    /// The total of this phase; at least `completed`.
    public let total: Int

    init(_ phase: String, _ completed: Int, of total: Int) {
        self.phase = phase
        self.completed = completed
        self.total = max(total, completed)
    }
}

// MARK: - Collect Blobs

extension Database {
    /// How many contents of attachments are looked at in one go; what bounds the memory of a collection.
    private static let blobsAtOnce = 50_000

    /// Removes the contents of attachments that no kept revision holds; returns how many.
    ///
    /// A page of contents at a time is suspected; all documents are gone through, and what one of them holds is cleared.
    /// In the write that removes the rest, documents changed since then are gone through again.
    func collectBlobs(_ progress: (MaintenanceProgress) throws -> Void) throws -> Int {
        var removed = 0
        var seen = 0
        var last: BlobDigest?
        while case let page = try engine.read({ try $0.blobs(after: last, limit: Self.blobsAtOnce) }),
            let newest = page.last
        {
            let sequence = try lastSequence()
            var suspects = Set(page.map(\.digest))
            try clear(&suspects, changedSince: 0)
            if !suspects.isEmpty {
                removed += try engine.hold { writer in
                    try clear(&suspects, changedSince: sequence)
                    let doomed = suspects.filter { !blobs.pins.contains($0) }
                    for digest in doomed { try writer.remove(.blob(digest)) }
                    return doomed.count
                }
            }
            last = newest.digest
            seen += page.count
            try progress(MaintenanceProgress("attachments", seen, of: seen))
        }
        return removed
    }

    /// Removes the large contents that no row names.
    ///
    /// Rows that were removed must be gone from the disk for good before this begins, or a loss of power could bring back
    /// a row without its content. Each step is a write, so that no transaction is open that has yet to commit the row.
    func collectStoredBlobs() throws {
        try blobs.storage?.collect(
            row: { digest in try engine.read { try $0.blob(digest) } },
            hold: { remove in try engine.hold { writer in try remove { try writer.blob($0) } } })
    }

    /// Takes out of the suspects what documents changed after a sequence hold.
    private func clear(_ suspects: inout Set<BlobDigest>, changedSince sequence: UpdateSequence) throws {
        try forEachNamedBlob(since: sequence) { suspects.remove($0) }
        var last: Int64 = 0
        while pendingCache != nil, case let page = try journal(after: last), let end = page.last {
            for case .given(let content) in page.flatMap({ [$0.old, $0.new] }) {
                for attachment in content.attachments { suspects.remove(attachment.blob) }
            }
            last = end.number
        }
    }

    private func journal(after number: Int64) throws -> [StoredJournalEntry] {
        try engine.read { try $0.journalEntries(after: number, limit: 500) }
    }
}

// MARK: - Named Blobs

extension Database {
    /// Calls a closure with the name of every attachment content that documents changed after a sequence hold, a page of
    /// documents at a time; some come more than once.
    ///
    /// Of a damaged document that is all that looks like such a name, so that nothing is collected that somebody could
    /// still want to save.
    func forEachNamedBlob(since: UpdateSequence, _ body: (BlobDigest) -> Void) throws {
        var range = SequenceRange(after: since)
        var hasLostTree = false
        while true {
            let last: UpdateSequence? = try engine.snapshot { reader in
                let page = try reader.records(changedIn: range, limit: 200, withContent: true)
                for record in noting(page) {
                    for blob in record.damage?.namedBlobs ?? [] { body(blob) }
                    for attachment in record.content?.attachments ?? [] { body(attachment.blob) }
                    if record.tree.isEmpty { hasLostTree = true }
                    for node in record.tree.allNodes where node.bodyToken >= BodyToken.firstApart {
                        try nameBlobs(at: node.bodyToken, reader, of: record.id, body)
                    }
                }
                return page.last?.sequence
            }
            guard let last else { break }
            range.after = last
        }
        // Contents kept apart may be those of a document of which nobody knows the revisions.
        if hasLostTree { try forEachContentToken { try nameBlobs(at: $1, $0, of: nil, body) } }
    }

    private func nameBlobs(
        at token: UInt64, _ reader: any StorageReader, of id: DocumentID?, _ body: (BlobDigest) -> Void
    ) throws {
        do {
            for attachment in try reader.content(at: token)?.attachments ?? [] { body(attachment.blob) }
        } catch let error as DatabaseError where error.code == .damagedDocument {
            for blob in error.namedBlobs { body(blob) }
            if let id { report(.damaged(id, "one of its old revisions", cause: error), of: id) }
        }
    }

    /// Calls a closure with the token of every content that is kept apart.
    func forEachContentToken(_ body: (any StorageReader, UInt64) throws -> Void) throws {
        var token: UInt64 = 0
        while true {
            let last = try engine.snapshot { reader in
                let page = try reader.contentTokens(after: token, limit: 500)
                for token in page { try body(reader, token) }
                return page.last
            }
            guard let last else { return }
            token = last
        }
    }
}

// MARK: - ContentMarks

/// The newest content token at the times of past compactions, which gives a minimum age for every separately stored
/// content.
///
///     [[1700000000000, 120], [1700086400000, 155]]         milliseconds since 1970, and the newest token then
struct ContentMarks {
    /// The setting with the marks.
    static let setting = "content_marks"
    private static let most = 32

    private var marks: [(time: Int64, token: UInt64)]

    /// Reads marks; an empty list for malformed text.
    init(_ text: String?) {
        let list = text.flatMap { try? JSONValue(parsing: $0) }?.array ?? []
        marks = list.compactMap { mark in
            guard let time = mark[0]?.int, let token = mark[1]?.int.flatMap({ UInt64(exactly: $0) }) else { return nil }
            return (Int64(time), token)
        }
    }

    var text: String {
        JSONValue.array(marks.map { [.number(JSONNumber($0.time)), .number(JSONNumber($0.token))] }).description
    }

    /// The newest token at a time; 0 if unknown.
    func newest(at time: Int64) -> UInt64 { marks.last { $0.time <= time }?.token ?? 0 }

    /// Records the newest token, and drops marks that are no longer needed.
    ///
    /// - Parameters:
    ///   - token: The newest token.
    ///   - now: The current time.
    ///   - age: The maximum age of interest, in milliseconds. Marks are at least a fraction of it apart.
    mutating func record(_ token: UInt64, at now: Int64, for age: Int64) {
        // A clock that went back invalidates its earlier times.
        marks.removeAll { $0.time > now }
        if let old = marks.lastIndex(where: { $0.time <= now - age }) { marks.removeSubrange(..<old) }
        if let last = marks.last, now - last.time < age / Int64(Self.most) { return }
        marks.append((now, token))
    }
}

extension Database {
    /// The newest token of a content that was stored separately for an age; records the current one.
    func newestOldContent(for age: Duration) throws -> UInt64 {
        let (seconds, attoseconds) = age.components
        let (whole, isPast) = seconds.multipliedReportingOverflow(by: 1000)
        let milliseconds = isPast ? Int64.max / 2 : max(0, whole + attoseconds / 1_000_000_000_000_000)
        let now = options.milliseconds()
        return try engine.commit { writer in
            var marks = ContentMarks(try writer.setting(ContentMarks.setting))
            let newest = marks.newest(at: now - milliseconds)
            let kept = try writer.newestContentToken() ?? 0
            let token = max(kept, try writer.setting(BodyToken.floorSetting).flatMap { UInt64($0) } ?? 0)
            marks.record(token, at: now, for: milliseconds)
            try writer.setSetting(ContentMarks.setting, to: marks.text)
            try writer.setSetting(BodyToken.floorSetting, to: String(token))
            return newest
        }
    }
}
