internal import SettleCore
internal import SettlePlatform

/// Counts and sizes of a database.
public struct DatabaseInfo: Sendable, Hashable {
    /// The number of documents, live and deleted.
    public var documents: DocumentCounts
    /// The number of documents that have two or more live leaves.
    public var conflicts: Int
    /// The number of documents that have one live leaf and a user's deletion that contradicts it.
    public var contested: Int
    /// The number of attachment contents that are kept, each counted once.
    public var blobs: Int
    /// The position of the newest change.
    public var lastSequence: UpdateSequence
    /// The size of the database file, in bytes.
    public var fileSize: Int64
    /// The size of the files of large attachments, in bytes.
    public var attachmentFilesSize: Int64
    /// The number of revisions of a branch that are kept; see ``Database/revisionLimit()``.
    public var revisionLimit: Int
}

// MARK: - Info

extension Database {
    /// Counts and sizes of the database.
    ///
    /// - Complexity: O(log *n*) in documents, whose numbers are kept, and O(*m*) in contents of attachments: it reads
    ///   the row of each without its bytes, and asks the system for the size of each file.
    public func info() throws -> DatabaseInfo {
        try engine.snapshot { reader in
            DatabaseInfo(
                documents: try reader.counts(),
                conflicts: try reader.count(.conflicted(.branches, DocumentRange())),
                contested: try reader.count(.conflicted(.deletion, DocumentRange())),
                blobs: try countBlobs(in: reader),
                lastSequence: try reader.lastSequence, fileSize: try capabilities.maintain(.measure).bytes,
                attachmentFilesSize: try blobs.sizeOnDisk(), revisionLimit: try Self.revisionLimit(in: reader))
        }
    }

    private func countBlobs(in reader: any StorageReader) throws -> Int {
        var total = 0
        var last: BlobDigest?
        while case let page = try reader.blobs(after: last, limit: 1000), let newest = page.last {
            total += page.count
            last = newest.digest
        }
        return total
    }

    /// The number of revisions of each branch that are kept; older ones are removed. It is CouchDB's `_revs_limit`,
    /// 1000 by default.
    public func revisionLimit() throws -> Int { try engine.read { try Self.revisionLimit(in: $0) } }

    /// Sets the number of revisions of each branch that are kept; a document is stemmed when it is next written.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for less than 1.
    public func setRevisionLimit(_ limit: Int) throws {
        guard limit > 0 else { throw DatabaseError(.invalid, "the revision limit must be at least 1") }
        try engine.commit { try $0.setSetting("revision_limit", to: String(limit)) }
    }

    static func revisionLimit(in reader: any StorageReader) throws -> Int {
        try reader.setting("revision_limit").flatMap { Int($0) }.map { max($0, 1) } ?? 1000
    }
}

// MARK: - DatabaseSizes

/// The sizes of a database in bytes: the figures that CouchDB calls `sizes`.
public struct DatabaseSizes: Sendable, Hashable {
    /// The size on disk: the file, its log, and the files of large attachments.
    public var file: Int64
    /// The part of that which is in use: without free pages, the log, and old contents that the next compaction
    /// will remove.
    public var active: Int64
    /// The size of documents and attachments without overhead: bodies as JSON, attachments as they are stored.
    public var external: Int64
}

// MARK: - Sizes

extension Database {
    /// The sizes of the database.
    ///
    /// Contents are counted at the first call, and again after a sixteenth of the documents changed; in between,
    /// their figures may be out of date by that much. The sizes of files are current.
    ///
    /// - Returns: The sizes. The contents that a compaction will remove are estimated: those stored since the last
    ///   compaction.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    /// - Complexity: O(1); O(*n*) in documents when contents are counted.
    public func sizes() throws -> DatabaseSizes {
        let payload = try payload()
        let disk = try capabilities.maintain(.measure)
        let needed = try setting(Self.neededContentsSetting).flatMap { Int64($0) } ?? 0
        let old = max(0, payload.apart - needed)
        return DatabaseSizes(
            file: max(disk.bytes, files?.size ?? disk.bytes) + payload.attachmentFiles,
            active: max(0, disk.bytes - disk.freeBytes - old) + payload.attachmentFiles,
            external: payload.winners + payload.apart - old + payload.attachments)
    }

    /// The setting with the size of the separately stored contents that the last compaction kept.
    static var neededContentsSetting: String { "needed_contents" }

    /// The size of the contents at the last count, or a new count if that is too old.
    private func payload() throws -> StoragePayload {
        let sequence = try lastSequence()
        let known = sizeCount.withLock { $0 }
        if let known, sequence.number - known.sequence.number <= known.tolerance { return known.payload }
        return try countPayload()
    }

    private func countPayload() throws -> StoragePayload {
        let count = try engine.snapshot { reader in
            SizeCount(
                payload: try capabilities.maintain(.weigh).payload, sequence: try reader.lastSequence,
                tolerance: Int64(try reader.count(.documents(DocumentRange())) / 16))
        }
        sizeCount.withLock { $0 = count }
        return count.payload
    }

    /// Counts again after a compaction, and stores the size of the separately stored contents that it kept.
    func recordCompactedSize() throws {
        let payload = try countPayload()
        try engine.commit { try $0.setSetting(Self.neededContentsSetting, to: String(payload.apart)) }
    }
}

// MARK: - SizeCount

/// The last count of a database's contents, and its sequence.
struct SizeCount: Sendable {
    var payload: StoragePayload
    var sequence: UpdateSequence
    /// The number of changes for which it is valid.
    var tolerance: Int64
}
