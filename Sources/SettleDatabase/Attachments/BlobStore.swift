internal import SettlePlatform

/// The contents of a database's attachments: small ones are rows of the storage engine, large ones are in a ``BlobStorage``.
///
/// A large content is on the disk before its row is written, so a row never names an incomplete one. A content that
/// does not belong to a document yet is pinned, so that compaction does not collect it.
final class BlobStore: Sendable {
    /// The maximum size of a content in a row, in bytes.
    static let largestInRow = 64 * 1024

    /// The storage of large contents; `nil` in memory, where all contents are in their rows.
    let storage: (any BlobStorage)?
    let pins: BlobPins

    /// - Parameters:
    ///   - storage: The storage of the engine, if it has one.
    ///   - files: The files of the database, which are used if the engine has no storage; `nil` in memory.
    ///   - isShared: Whether other processes use the files, too.
    init(_ storage: (any BlobStorage)?, files: DatabaseFiles?, isShared: Bool) {
        let pins = BlobPins()
        self.pins = pins
        self.storage = storage ?? files.map { FileBlobs($0, pins: pins, isShared: isShared) }
    }

    /// Keeps a stored content from being collected by this process until the returned object is released.
    func pin(_ record: BlobRecord) -> PendingBlob { PendingBlob(record, pins.pin(record.digest)) }

    /// The record for reading a pinned content; `nil` if the content belongs to another database.
    ///
    /// A record that contains its bytes, or whose file is named by the digest, is valid in each database that has
    /// pinned the content.
    func record(of pending: PendingBlob?) -> BlobRecord? {
        guard let pending, pins.contains(pending.record.digest) else { return nil }
        return pending.record.place == nil || pending.isOne(of: pins) ? pending.record : nil
    }

    /// The record of a pinned content for its row; `nil` if it is not in this database. Another process may have collected it
    /// while the database was suspended.
    func storable(_ pending: PendingBlob?) -> BlobRecord? {
        guard let record = record(of: pending) else { return nil }
        return !record.isFile || storage?.has(record) == true ? record : nil
    }

    /// Opens a content that is not in its row.
    func open(_ record: BlobRecord, from offset: Int64) throws -> any BlobReader {
        guard let storage else {
            throw DatabaseError(.attachmentMissing, "the content \(record.digest) is not in the database")
        }
        return try storage.open(record, from: offset)
    }

    /// The sum of the lengths of the contents that are not in their rows.
    func sizeOnDisk() throws -> Int64 { try storage?.sizeOnDisk() ?? 0 }
}

// MARK: - BlobPins

/// The contents that this process keeps from being collected, by their digests.
final class BlobPins: Sendable {
    /// A pin, which exists until it is released.
    final class Pin: Sendable {
        private let digest: BlobDigest
        fileprivate let pins: BlobPins

        fileprivate init(_ digest: BlobDigest, in pins: BlobPins) { (self.digest, self.pins) = (digest, pins) }

        deinit { pins.release(digest) }

        /// Whether this pin belongs to a set of pins.
        func isOne(of pins: BlobPins) -> Bool { self.pins === pins }
    }

    private let counts = Guarded<[BlobDigest: Int]>([:])

    /// Keeps a content from being collected until the returned object is released.
    func pin(_ digest: BlobDigest) -> Pin {
        counts.withLock { $0[digest, default: 0] += 1 }
        return Pin(digest, in: self)
    }

    private func release(_ digest: BlobDigest) {
        counts.withLock { counts in counts[digest] = counts[digest].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }

    /// Whether a content must not be collected now.
    func contains(_ digest: BlobDigest) -> Bool { counts.withLock { $0[digest] != nil } }

    /// Runs a closure if a content is not pinned. The content can't be pinned meanwhile.
    func unlessPinned(_ digest: BlobDigest, _ body: () throws -> Void) rethrows {
        try counts.withLock { if $0[digest] == nil { try body() } }
    }
}

// MARK: - PendingBlob

/// A pin on a content: while it exists, the content is not collected.
package final class PendingBlob: Sendable {
    /// The record to write together with the first document that references it.
    package let record: BlobRecord
    private let pin: BlobPins.Pin
    /// The pin that other processes see.
    private let stored: (any AnyObject & Sendable)?

    init(_ record: BlobRecord, _ pin: BlobPins.Pin, _ stored: (any AnyObject & Sendable)? = nil) {
        (self.record, self.pin, self.stored) = (record, pin, stored)
    }

    /// Whether a set of pins holds the content.
    func isOne(of pins: BlobPins) -> Bool { pin.isOne(of: pins) }
}
