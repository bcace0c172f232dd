internal import SettleDatabase

/// Takes an attachment's stored bytes piece by piece, off the caller's thread.
///
/// Unchecked: no lock guards the writer, for it is touched by one call at a time, each awaited before the next.
final class AttachmentSink: @unchecked Sendable {
    private let peer: LocalPeer
    private let writer: AttachmentWriter
    /// How many bytes it has taken.
    private(set) var length: Int64 = 0

    init(_ peer: LocalPeer) async throws {
        self.peer = peer
        // The bytes are kept as they come; what they are is said when they are all here.
        writer = try peer.local.attachmentWriter(contentType: "application/octet-stream", encoding: .identity)
    }

    /// Takes the next piece.
    func write(_ bytes: [UInt8]) async throws {
        try await peer.perform { _ in try self.writer.write(bytes) }
        length += Int64(bytes.count)
    }

    /// Ends the content.
    func finish() async throws -> Attachment { try await peer.perform { _ in try self.writer.finish(name: "content") } }
}
