internal import SettleDatabase

/// Takes an attachment's stored bytes piece by piece, off the caller's thread.
///
/// Unchecked: no lock guards the writer, for it is touched by one call at a time, each awaited before the next.
final class AttachmentSink: @unchecked Sendable {
    private let peer: LocalPeer
    private let writer: AttachmentWriter
    /// How many bytes it has, also of what came before.
    private(set) var length: Int64

    /// Begins with nothing.
    init(_ peer: LocalPeer, _ encoding: Attachment.Encoding) async throws {
        self.peer = peer
        writer = try peer.local.attachmentWriter(contentType: "application/octet-stream", encoding: encoding)
        length = 0
    }

    /// Goes on with what came of a content before, even if that was another process.
    init(_ peer: LocalPeer, resuming attachment: PeerAttachment) async throws {
        self.peer = peer
        let (digest, length) = (attachment.digest, attachment.encodedLength)
        let encoding = attachment.encoding
        writer = try await peer.perform {
            Unshared(try $0.attachmentWriter(resuming: digest, length: length, encoding: encoding))
        }.value
        self.length = writer.storedLength
    }

    /// Takes the next piece.
    func write(_ bytes: [UInt8]) async throws {
        try await peer.perform { _ in try self.writer.write(bytes) }
        length += Int64(bytes.count)
    }

    /// Lets go of what has come.
    func discard() { writer.discard() }

    /// Ends the content.
    func finish() async throws -> Attachment { try await peer.perform { _ in try self.writer.finish(name: "content") } }
}

/// Hands a value from the thread that made it to the one that waited for it.
///
/// Unchecked: no lock guards it, for it is made on one thread and touched on the other alone.
private struct Unshared<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
