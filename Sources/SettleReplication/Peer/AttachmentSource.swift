/// The stored bytes of an attachment at a peer, read in bounded memory and resumable after a cut.
package protocol AttachmentSource: Sendable {
    /// Reads the stored bytes from an offset and hands them over in order, in nonempty pieces; the next piece is read
    /// after `body` has taken the previous one.
    ///
    /// - Throws: ``PeerError``, transient if reading may succeed from the offset reached; errors of `body`.
    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws
}
