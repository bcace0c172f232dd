internal import SettleCore
internal import SettlePlatform

extension Database {
    /// Removes contents that are no longer needed, and returns their space to the system.
    ///
    /// It never removes leaves, the ids of revisions, and the bases of merges: contents of branch points while a
    /// document is in conflict, and the newest revision known to a peer while it has descendants that no peer has
    /// (SEMANTICS 90, DESIGN.md 3).
    ///
    ///     1-a ── 2-b ── 3-c ─┬─ 4-d ── 5-e        kept: 5-e and 4-x, the leaves; 3-c, where they part;
    ///                        └─ 4-x               2-b or 3-c if a peer has it. Let go: 1-a, 4-d.
    ///
    /// Contents of attachments stay while several processes share the database (``DatabaseOptions/sharing``).
    ///
    /// A damaged document, and one that has too many leaves in conflict to be settled, is skipped and reported to
    /// ``DatabaseOptions/warn``; its contents are kept.
    ///
    /// Other writes continue between steps; they wait at the end while the file is rewritten. It may be stopped or
    /// killed at any point and started again.
    ///
    /// - Parameters:
    ///   - age: The minimum time for which contents are kept after they were superseded or lost, so that users can
    ///     look at them (SEMANTICS K4); by default they are not kept. Only compactions with an age record times:
    ///     the first one removes nothing, and each content stays for the age plus at most the time between two
    ///     compactions. A content also stays as long as the one that superseded it.
    ///   - progress: Called with the progress, after each step.
    /// - Returns: The removed contents.
    /// - Throws: ``DatabaseError`` with code `diskFull`, `inputOutput` or `closed`, or an error that `progress`
    ///   throws to stop it.
    @discardableResult
    public func compact(
        keepingOldContentsFor age: Duration? = nil,
        progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) throws -> CompactionResult {
        let before = try capabilities.maintain(.measure).bytes + blobs.sizeOnDisk()
        var result = CompactionResult()
        let newest = try age.map { try newestOldContent(for: $0) } ?? .max
        result.contents = try compactContents(through: newest, progress) + removeLostContents()
        // Another process may be about to save a document with a content that no document contains yet.
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
    /// It does what ``compact(keepingOldContentsFor:progress:)-(_,(MaintenanceProgress)->Void)`` does. If the task
    /// is cancelled, it ends after the current step, and the contents removed so far stay removed.
    ///
    /// - Parameters:
    ///   - age: The minimum time for which superseded contents are kept; by default they are not kept.
    ///   - progress: Called with the progress on another thread, after each step.
    /// - Returns: The removed contents.
    /// - Throws: `CancellationError`; ``DatabaseError`` with code `diskFull`, `inputOutput` or `closed`; errors of
    ///   `progress`.
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
                            where error.code == .damagedDocument || error.code == .invalid
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
        // The survivor that a branch was closed for is a base, too; the tombstones name it.
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

    /// The inner revisions whose contents are not needed, if they were superseded before a given content was stored
    /// separately.
    ///
    /// A winner's content is stored separately when it is superseded. If the superseding content is not the
    /// winner's anymore, it is stored separately, too.
    private func removable(in tree: RevisionTree, through newest: UInt64) -> [RevisionNode] {
        let all = Self.removable(in: tree, hasJournal: pendingCache != nil)
        guard newest < .max, !all.isEmpty else { return all }
        let young = Set(tree.allNodes.filter { $0.bodyToken > newest }.compactMap { tree.parent(of: $0.revision) })
        return all.filter { $0.bodyToken <= newest && !young.contains($0.revision) }
    }

    /// The inner revisions whose contents are kept and not needed. With a journal, contents of revisions that no
    /// peer has are needed: an undone one may be on its way to a peer, and its content is then needed to compute
    /// the change that the undo made.
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

/// The numbers of contents that a compaction removed.
public struct CompactionResult: Sendable, Hashable {
    /// Contents of revisions that are neither leaves nor the base of a merge.
    public var contents = 0
    /// Contents of attachments that belong to no kept revision.
    public var blobs = 0
    /// The number of bytes by which the database became smaller on disk.
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
    /// The number of attachment contents that are checked in one pass; it limits the memory of a collection.
    private static let blobsAtOnce = 50_000

    /// Removes the attachment contents that belong to no kept revision; returns their number.
    ///
    /// It takes a page of contents at a time as candidates, goes through all documents, and removes those that a
    /// document contains from the candidates. The write that removes the remaining candidates checks the documents
    /// changed since then again.
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
    /// Rows that were removed must be durably removed before this begins; otherwise a loss of power could bring
    /// back a row without its content. Each step is a write, so no open transaction has a row that is not committed
    /// yet.
    func collectStoredBlobs() throws {
        try blobs.storage?.collect(
            row: { digest in try engine.read { try $0.blob(digest) } },
            hold: { remove in try engine.hold { writer in try remove { try writer.blob($0) } } })
    }

    /// Removes the contents of documents changed after a sequence from the candidates.
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
    /// Calls a closure with the name of every attachment content of the documents changed after a sequence, a page
    /// of documents at a time. Some names come more than once.
    ///
    /// For a damaged document, these are all bytes that look like such a name, so that no content is collected that
    /// a user might still rescue.
    func forEachNamedBlob(since: UpdateSequence, _ body: (BlobDigest) -> Void) throws {
        var range = SequenceRange(after: since)
        var hasLostTree = false
        var size = PageSize()
        while true {
            let last: UpdateSequence? = try engine.snapshot { reader in
                let page = try reader.records(changedIn: range, limit: size.count, withContent: true)
                size.learn(page)
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
        // Separately stored contents may belong to a document whose revisions can't be read.
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

    /// Calls a closure with the token of every separately stored content.
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

/// The newest content token at the times of past compactions. They give a minimum age for every separately stored
/// content.
///
///     [[1700000000000, 120], [1700086400000, 155]]         milliseconds since 1970, and the newest token then
struct ContentMarks {
    /// The setting with the marks.
    static let setting = "content_marks"
    private static let most = 32
    /// The times that a clock can have, in milliseconds since 1970.
    private static let times: ClosedRange<Int64> = -9_000_000_000_000_000...9_000_000_000_000_000

    private var marks: [(time: Int64, token: UInt64)]

    /// Reads marks; malformed text gives an empty list.
    init(_ text: String?) {
        let list = text.flatMap { try? JSONValue(parsing: $0) }?.array ?? []
        marks = list.compactMap { mark in
            guard let time = mark[0]?.int.map(Int64.init), Self.times.contains(time),
                let token = mark[1]?.int.flatMap({ UInt64(exactly: $0) })
            else { return nil }
            return (time, token)
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
        // If the clock was set back, marks with later times are invalid.
        marks.removeAll { $0.time > now }
        if let old = marks.lastIndex(where: { $0.time <= now - age }) { marks.removeSubrange(..<old) }
        if let last = marks.last, now - last.time < age / Int64(Self.most) { return }
        marks.append((now, token))
    }
}

extension Database {
    /// The newest token of the contents that are older than an age. It also records the current token.
    func newestOldContent(for age: Duration) throws -> UInt64 {
        let (milliseconds, now) = (age.wholeMilliseconds, options.milliseconds())
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
