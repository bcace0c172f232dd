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

/// A content that was written, and that no row may name yet.
public struct FinishedBlob: Sendable {
    /// The place that the row of the content is to name; `nil` if it is found by its digest.
    public let place: [UInt8]?
    /// Keeps the content from being collected while it exists. It is released once no document can be saved with this content
    /// any more, whether one was or not; `nil` if the storage goes by the pins of the process.
    public let pin: (any AnyObject & Sendable)?

    /// Creates a value.
    public init(place: [UInt8]?, pin: (any AnyObject & Sendable)?) { (self.place, self.pin) = (place, pin) }
}

/// Writes a content that can be continued by a later writer: released before it has finished, it leaves what was written.
public protocol ResumableBlobWriter: BlobWriter {
    /// The bytes that were there before this writer, from the first one; asked for before the first is written.
    func storedBytes() throws -> any BlobReader

    /// Removes all bytes, and goes on with the first one.
    func restart() throws

    /// Sees that this writer leaves nothing when it is released.
    func discard()
}
