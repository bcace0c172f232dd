/// The contents of a database's attachments: small ones are rows of the storage engine, large ones are in a ``BlobStorage``.
///
/// A large content is on the disk before its row is written, so a row never names an incomplete one. A content that is
/// not in a document yet is pinned, so that compaction does not collect it.
final class BlobStore: Sendable {
    /// Larger contents are not in their row, in bytes.
    static let largestInRow = 64 * 1024

    /// Where large contents are; `nil` in memory, where all are in their rows.
    let storage: (any BlobStorage)?
    let pins: BlobPins

    /// - Parameters:
    ///   - storage: The storage of the engine, if it has one.
    ///   - files: The files of the database, which are used otherwise; `nil` in memory.
    ///   - isShared: Whether other processes use the files, too.
    init(_ storage: (any BlobStorage)?, files: DatabaseFiles?, isShared: Bool) {
        let pins = BlobPins()
        self.pins = pins
        self.storage = storage ?? files.map { FileBlobs($0, pins: pins, isShared: isShared) }
    }

    /// Keeps a stored content from being collected by this process until the returned object is released.
    func pin(_ record: BlobRecord) -> PendingBlob { PendingBlob(record, pins.pin(record.digest)) }

    /// The record by which a pinned content can be read; `nil` if it is a content of another database.
    ///
    /// One that has its bytes with it, or in a file with the name of the digest, is the same in each database that has pinned it.
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
