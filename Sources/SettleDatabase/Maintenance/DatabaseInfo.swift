internal import SettleCore
internal import SettlePlatform

/// Counts and sizes of a database.
public struct DatabaseInfo: Sendable, Hashable {
    /// The number of documents, live and deleted.
    public var documents: DocumentCounts
    /// The number of documents that have two or more live leaves.
    public var conflicts: Int
    /// The number of documents that have one live leaf and a user's deletion that stands against it.
    public var contested: Int
    /// How many attachments' contents are kept, each once.
    public var blobs: Int
    /// The position of the newest change.
    public var lastSequence: UpdateSequence
    /// The size of the database file, in bytes.
    public var fileSize: Int64
    /// The size of the files of large attachments, in bytes.
    public var attachmentFilesSize: Int64
    /// How many revisions of a branch are kept; see ``Database/revisionLimit()``.
    public var revisionLimit: Int
}

// MARK: - Info

extension Database {
    /// Counts and sizes of the database.
    ///
    /// - Complexity: O(*n*) in documents, by an index: milliseconds for 100,000.
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

    /// How many revisions of each branch are kept, older ones are forgotten: CouchDB's `_revs_limit`, 1000 by default.
    public func revisionLimit() throws -> Int { try engine.read { try Self.revisionLimit(in: $0) } }

    /// Sets how many revisions of each branch are kept; a document is stemmed when it is next written.
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

/// How large a database is, in bytes: the figures that CouchDB calls `sizes`.
public struct DatabaseSizes: Sendable, Hashable {
    /// What it takes on disk: the file, its log, and the files of large attachments.
    public var file: Int64
    /// The part of that which is in use: without free pages, the log, and old contents that the next compaction lets go of.
    public var active: Int64
    /// What documents and attachments take without anything around them: bodies as JSON, attachments as they are stored.
    public var external: Int64
}

// MARK: - Sizes

extension Database {
    /// How large the database is.
    ///
    /// Contents are counted when this is first asked for, and again after a sixteenth of the documents changed; the figures in
    /// between lag behind by that much. The sizes of files are as they are now.
    ///
    /// - Returns: The sizes. Which old contents a compaction will let go of is estimated: those that came since the last one.
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

    /// The setting with the size of the contents kept apart that the last compaction left.
    static var neededContentsSetting: String { "needed_contents" }

    /// What is kept, as it was counted lately.
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

    /// Counts anew after a compaction, and remembers what it left of contents kept apart.
    func recordCompactedSize() throws {
        let payload = try countPayload()
        try engine.commit { try $0.setSetting(Self.neededContentsSetting, to: String(payload.apart)) }
    }
}

// MARK: - SizeCount

/// The last count of a database's contents, and the sequence it was made at.
struct SizeCount: Sendable {
    var payload: StoragePayload
    var sequence: UpdateSequence
    /// For how many changes it is valid.
    var tolerance: Int64
}
