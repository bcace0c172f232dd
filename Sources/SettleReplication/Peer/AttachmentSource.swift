/// The stored bytes of an attachment at a peer, which are read in bounded memory, and from the middle on after a cut.
public protocol AttachmentSource: Sendable {
    /// Reads the stored bytes from an offset on and hands them over in order, none empty; the next piece is read when the
    /// one before is taken.
    ///
    /// - Throws: ``PeerError``, transient when reading on from what was handed over may succeed; what `body` throws.
    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws
}
