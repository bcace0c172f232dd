internal import SettleDatabase

/// Writes an attachment's stored bytes piece by piece, off the caller's thread.
///
/// Unchecked: the writer needs no lock, because one call uses it at a time and is awaited before the next.
final class AttachmentSink: @unchecked Sendable {
    private let peer: LocalPeer
    private let writer: AttachmentWriter
    /// How many bytes it has, including resumed ones.
    private(set) var length: Int64

    /// Starts with no content.
    init(_ peer: LocalPeer, _ encoding: DocumentAttachment.Encoding) async throws {
        self.peer = peer
        writer = try peer.local.attachmentWriter(contentType: "application/octet-stream", encoding: encoding)
        length = 0
    }

    /// Resumes partial content, even that of an earlier process.
    init(_ peer: LocalPeer, resuming attachment: PeerAttachment) async throws {
        self.peer = peer
        let (digest, length) = (attachment.digest, attachment.encodedLength)
        let encoding = attachment.encoding
        writer = try await peer.perform {
            Unshared(try $0.attachmentWriter(resuming: digest, length: length, encoding: encoding))
        }.value
        self.length = writer.storedLength
    }

    /// Writes the next piece.
    func write(_ bytes: [UInt8]) async throws {
        try await peer.perform { _ in try self.writer.write(bytes) }
        length += Int64(bytes.count)
    }

    /// Discards the content.
    func discard() { writer.discard() }

    /// Completes the content.
    func finish() async throws -> DocumentAttachment {
        try await peer.perform { _ in try self.writer.finish(name: "content") }
    }
}

/// Passes a value from the thread that made it to the one that waits for it.
///
/// Unchecked: it needs no lock, because it is made on one thread and then used only on the other.
private struct Unshared<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
