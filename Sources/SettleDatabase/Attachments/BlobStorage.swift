internal import SettlePlatform

/// The storage for the contents of large attachments; small ones are in the rows of the storage engine.
///
///     newBlob ── write, write, finish ──→ a place, pinned ── a commit whose row names it ──→ stored
///                                              └─ released without a row ──→ nobody's: collected
///
/// By default, contents are files in the database's folder, named by their digest; a database in memory keeps all
/// bytes in rows. An engine that several processes share brings another storage (`BlobKeepingStorage`). It writes a
/// content under a name that it chooses before the digest is known. The row then stores that name as the *place*,
/// so finishing renames nothing.
///
/// The promises of a storage:
///
/// - A finished content stays while its pin exists, whichever process collects meanwhile. The pins of a process
///   that ends without releasing them expire after a while.
/// - A content that a committed row names stays as long as the row. If the row has a place, the engine commits it
///   only while the pin exists; otherwise the write fails with code `attachmentMissing`.
/// - ``collect(row:hold:)`` removes contents that no row names and that are not pinned. It is best called some
///   minutes after a row was removed, because a reader may still need the content.
public protocol BlobStorage: Sendable {
    /// Begins a new content.
    ///
    /// - Throws: ``DatabaseError`` with code `closed`, `inputOutput` or `unavailable`.
    func newBlob() throws -> any BlobWriter

    /// Continues a content that an earlier writer left unfinished, or begins it.
    ///
    /// - Parameters:
    ///   - digest: The MD5 that the finished content will have.
    ///   - length: Its length. What was left of it is not longer.
    /// - Returns: The writer; `nil` if this storage keeps no unfinished contents, which is the default, or if another writer
    ///   continues it.
    /// - Throws: ``DatabaseError`` with code `closed`, `inputOutput` or `unavailable`.
    func resumedBlob(_ digest: AttachmentDigest, length: Int64) throws -> (any ResumableBlobWriter)?

    /// Opens a stored content for reading.
    ///
    /// - Parameters:
    ///   - record: The content's row, or the record of a pinned content.
    ///   - offset: The first byte to read, at most the length.
    /// - Returns: A reader of the content from there to its end.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing` for a content that does not exist.
    func open(_ record: BlobRecord, from offset: Int64) throws -> any BlobReader

    /// Whether a pinned content is still there; `true` by default. The default fits a storage in which only the engine finds out, at
    /// the commit.
    func has(_ record: BlobRecord) -> Bool

    /// Removes contents that no row names and nothing pins, including those that killed processes left.
    ///
    /// It is called after the removal of rows is durable.
    ///
    /// - Parameters:
    ///   - row: Looks up the row of a content.
    ///   - hold: Runs a closure while no process commits, with a lookup that sees all commits so far. The storage
    ///     removes contents inside that closure if the decision depends on a row. Other writers wait meanwhile, so
    ///     it is called for a few contents at a time.
    /// - Throws: ``DatabaseError``, and errors of the closures.
    func collect(row: BlobLookup, hold: (_ remove: (BlobLookup) throws -> Void) throws -> Void) throws

    /// The sum of the lengths of all stored contents, including pinned ones and those that will be collected.
    func sizeOnDisk() throws -> Int64
}

/// Returns the row of a content, or `nil` if no row has the digest.
public typealias BlobLookup = (BlobDigest) throws -> BlobRecord?

extension BlobStorage {
    /// Returns `nil`: unfinished contents are not kept.
    public func resumedBlob(_ digest: AttachmentDigest, length: Int64) throws -> (any ResumableBlobWriter)? { nil }

    /// Returns `true`.
    public func has(_ record: BlobRecord) -> Bool { true }
}

/// Reads a stored content, beginning at the offset it was opened with. It is used by one thread at a time.
public protocol BlobReader: AnyObject {
    /// The next bytes, at most `count` and fewer only before the end; empty at the end.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `unavailable`, or `attachmentMissing` for a content that was collected
    ///   meanwhile.
    func read(upTo count: Int) throws -> [UInt8]
}

// MARK: - BlobWriter

/// Writes one content of a ``BlobStorage``. It is used by one thread at a time, and a writer that is released before it has
/// finished leaves nothing.
public protocol BlobWriter: AnyObject {
    /// Appends bytes.
    ///
    /// - Throws: ``DatabaseError`` with code `diskFull`, `inputOutput` or `unavailable`.
    func write(_ bytes: UnsafeRawBufferPointer) throws

    /// Finishes the content; it is on the disk when this returns.
    ///
    /// - Parameter digest: The SHA-256 of all bytes.
    /// - Returns: The content's place, and its pin.
    /// - Throws: ``DatabaseError`` with code `diskFull`, `inputOutput`, `unavailable` or `closed`; the writer can then only be released.
    func finish(as digest: BlobDigest) throws -> FinishedBlob
}

/// A content that is written and that no row names yet.
public struct FinishedBlob: Sendable {
    /// The place to store in the content's row; `nil` if the content is found by its digest.
    public let place: [UInt8]?
    /// Keeps the content from being collected while this object exists. The database releases it when it can save no further document
    /// with this content; `nil` if the storage goes by the pins of the process.
    public let pin: (any AnyObject & Sendable)?

    /// Creates a value.
    public init(place: [UInt8]?, pin: (any AnyObject & Sendable)?) { (self.place, self.pin) = (place, pin) }
}

/// Writes a content that a later writer can continue: if it is released before it has finished, the bytes written
/// so far stay.
public protocol ResumableBlobWriter: BlobWriter {
    /// The bytes that an earlier writer left, from the first one. It is called before this writer writes.
    func storedBytes() throws -> any BlobReader

    /// Removes all bytes and starts over.
    func restart() throws

    /// Makes this writer leave nothing when it is released.
    func discard()
}

// MARK: - BlobRecord

/// A stored content in a storage engine.
public struct BlobRecord: Sendable, Hashable {
    /// The content's name.
    public let digest: BlobDigest
    /// The MD5 of the bytes, the digest of attachments.
    public let md5: [UInt8]
    /// The number of bytes.
    public let length: Int64
    /// The bytes, or `nil` if they are not in the row or were not requested.
    public let content: [UInt8]?
    /// Whether the bytes are outside the row: in a file, or in the ``BlobStorage`` of the engine.
    public let isFile: Bool
    /// The place where a ``BlobStorage`` has the bytes, in a format of its own; `nil` for bytes in the row or in a file named by the digest.
    public let place: [UInt8]?

    /// Creates a record.
    public init(
        digest: BlobDigest, md5: [UInt8], length: Int64, content: [UInt8]?, isFile: Bool, place: [UInt8]? = nil
    ) {
        self.digest = digest
        self.md5 = md5
        self.length = length
        self.content = content
        self.isFile = isFile
        self.place = place
    }
}

// MARK: - BlobDigest

/// The name of a stored content: its SHA-256.
public struct BlobDigest: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Creates a digest from its 32 bytes; `nil` for another number of bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Parses 64 hex digits; `nil` if the text is anything else.
    public init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.decode(text) else { return nil }
        self.init(bytes)
    }

    /// Orders by the bytes.
    public static func < (left: BlobDigest, right: BlobDigest) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    /// The digest in 64 lower-case hex digits.
    public var description: String { Hexadecimal.encode(bytes) }
}
