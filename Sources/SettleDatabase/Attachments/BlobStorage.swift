/// Where the contents of large attachments are kept; small ones are in the rows of the storage engine.
///
///     newBlob ── write, write, finish ──→ a place, pinned ── a commit whose row names it ──→ stored
///                                              └─ released without a row ──→ nobody's: collected
///
/// A database has its own: files named by the digest, or none in memory, where rows have all bytes. An engine that several
/// processes share brings another (``StorageEngine/blobs``). There a content is written under a name of its own before its digest
/// is known, and the row names that *place*, so that finishing renames nothing.
///
/// What a storage promises:
///
/// - A content that was finished stays while its pin exists, whichever process collects meanwhile. A process that ends without
///   releasing its pins loses them after a while.
/// - A content that a committed row names stays as long as the row. If the row names a place, the engine commits it only
///   while the pin exists, or else fails the write with code `attachmentMissing`.
/// - What nothing names or pins any more is removed by ``collect(row:hold:)``. It is best to wait some minutes after a row was
///   removed, for the sake of those who are reading.
public protocol BlobStorage: Sendable {
    /// Begins a new content.
    ///
    /// - Throws: ``DatabaseError`` with code `closed`, `inputOutput` or `unavailable`.
    func newBlob() throws -> any BlobWriter

    /// Continues a content of which an earlier writer has left the beginning, or begins it.
    ///
    /// - Parameters:
    ///   - digest: The MD5 that the finished content will have.
    ///   - length: Its length. What was left of it is not longer.
    /// - Returns: The writer; `nil` if this storage keeps no unfinished contents, which is the default, or if another writer is at it.
    /// - Throws: ``DatabaseError`` with code `closed`, `inputOutput` or `unavailable`.
    func resumedBlob(_ digest: AttachmentDigest, length: Int64) throws -> (any ResumableBlobWriter)?

    /// Opens a stored content for reading.
    ///
    /// - Parameters:
    ///   - record: The content's row, or the record of a pinned content.
    ///   - offset: The first byte to read, at most the length.
    /// - Returns: A reader of the content from there to its end.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing` for a content that is not there.
    func open(_ record: BlobRecord, from offset: Int64) throws -> any BlobReader

    /// Whether a pinned content is still there; true unless a storage says otherwise. A storage from which only the engine
    /// can tell at the commit leaves it as it is.
    func has(_ record: BlobRecord) -> Bool

    /// Removes what no row names and nothing pins, remains of killed processes among it.
    ///
    /// Rows that were removed before are gone for good when this is called.
    ///
    /// - Parameters:
    ///   - row: Looks up the row of a content.
    ///   - hold: Runs a closure while no process commits, with a lookup that sees all commits so far. What depends on a row is removed
    ///     inside; other writers wait meanwhile, so it is called for a few contents at a time.
    /// - Throws: ``DatabaseError``, and what the closures throw.
    func collect(row: BlobLookup, hold: (_ remove: (BlobLookup) throws -> Void) throws -> Void) throws

    /// The sum of the lengths of all stored contents, pinned ones and those to be collected among them.
    func sizeOnDisk() throws -> Int64
}

/// Returns the row of a content, or `nil` if no row has the digest.
public typealias BlobLookup = (BlobDigest) throws -> BlobRecord?

extension BlobStorage {
    /// No unfinished contents are kept.
    public func resumedBlob(_ digest: AttachmentDigest, length: Int64) throws -> (any ResumableBlobWriter)? { nil }

    /// Pinned contents are there.
    public func has(_ record: BlobRecord) -> Bool { true }
}

/// Reads a stored content from where it was opened. It is used by one thread at a time.
public protocol BlobReader: AnyObject {
    /// The next bytes, at most `count` and fewer only before the end; empty at the end.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `unavailable`, or `attachmentMissing` for a content that was collected
    ///   meanwhile.
    func read(upTo count: Int) throws -> [UInt8]
}
