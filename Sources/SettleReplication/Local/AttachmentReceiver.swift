internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP

/// Stores the contents of a revision's attachments in a local database, before the revision itself.
///
///     stub      ─→ the same content of an ancestor here, else the whole revision is fetched again
///     bytes     ─→ written
///     source    ─→ the same content of a leaf here, else streamed, from the offset reached before a cut,
///                  also by an earlier process
///
/// Written content is verified against its digest.
struct AttachmentReceiver: Sendable {
    /// The result for one revision.
    enum Outcome {
        case taken([DocumentAttachment])
        case not(StoreOutcome)
    }

    let peer: LocalPeer
    let revision: PeerRevision
    /// The maximum number of consecutive attempts that read no byte of an attachment.
    private static let attempts = 4

    /// Stores all contents.
    func receive() async throws -> Outcome {
        let here = try await attachmentsHere()
        var taken: [DocumentAttachment] = []
        for attachment in revision.attachments {
            do {
                taken.append(try await receive(attachment, here: here))
            } catch let error as PeerError {
                if error.code == .database || error.code == .cancelled { throw error }
                return .not(error.isTransient ? .failed(error) : outcome(of: error, attachment))
            }
        }
        return .taken(taken)
    }

    /// A stub without matching content may arrive whole the next time; content that does not match its digest will not.
    private func outcome(of error: PeerError, _ attachment: PeerAttachment) -> StoreOutcome {
        if case .stub = attachment.content { return .failed(error) }
        // An intermediary may have caused the status, for example a 404.
        if error.status != nil { return .failed(error) }
        return error.code == .attachmentMissing || error.code == .badRequest ? .refused(error) : .failed(error)
    }

    private func receive(_ attachment: PeerAttachment, here: [DocumentAttachment]) async throws -> DocumentAttachment {
        let same = here.filter {
            $0.digest == attachment.digest && $0.encodedLength == attachment.encodedLength
                && $0.encoding == attachment.encoding
        }
        switch attachment.content {
        case .stub:
            guard let known = same.first ?? here.first(where: { $0.digest == attachment.digest }) else {
                throw PeerError(
                    .attachmentMissing,
                    "\(place(attachment)) was left out since \(peer.name) should have it, but it has not")
            }
            return try await described(known, attachment)
        case .bytes(let bytes):
            let writer = try await AttachmentSink(peer, attachment.encoding)
            try await writer.write(bytes)
            return try await finish(writer, attachment)
        case .source(let source):
            if let known = same.first { return try await described(known, attachment) }
            return try await stream(source, attachment)
        }
    }

    private func stream(_ source: any AttachmentSource, _ attachment: PeerAttachment) async throws -> DocumentAttachment
    {
        let writer = try await AttachmentSink(peer, resuming: attachment)
        let kept = writer.length
        do {
            try await read(source, into: writer)
            return try await finish(writer, attachment)
        } catch let error as PeerError where error.code == .attachmentMissing || error.code == .badRequest {
            writer.discard()
            guard kept > 0 else { throw error }
        }
        // The partial content is damaged, for example after a power failure.
        let anew = try await AttachmentSink(peer, attachment.encoding)
        try await read(source, into: anew)
        return try await finish(anew, attachment)
    }

    /// Reads a source to its end, and resumes after interruptions. It gives up after a few attempts without
    /// progress.
    private func read(_ source: any AttachmentSource, into writer: AttachmentSink) async throws {
        var failures = 0
        while true {
            let start = writer.length
            do { return try await source.read(from: start) { try await writer.write($0) } } catch let error as PeerError
                where error.isTransient
            {
                failures = writer.length > start ? 1 : failures + 1
                guard failures < Self.attempts else { throw error }
            }
        }
    }

    private func finish(_ writer: AttachmentSink, _ attachment: PeerAttachment) async throws -> DocumentAttachment {
        let written = try await writer.finish()
        guard written.digest == attachment.digest else {
            throw PeerError(
                .attachmentMissing, "\(place(attachment)) is not what its digest \(attachment.digest) says")
        }
        // Newly received bytes are verified against the description.
        return try named(written, attachment, length: attachment.length)
    }

    /// Content that is stored already, described as in the revision.
    private func described(_ known: DocumentAttachment, _ attachment: PeerAttachment) async throws -> DocumentAttachment
    {
        let isExpanded = attachment.encoding == .gzip && known.encoding == .identity
        let stored = isExpanded ? try await peer.perform { try $0.expanded(known) } : known
        return try named(stored, attachment, length: nil)
    }

    private func named(
        _ stored: DocumentAttachment, _ attachment: PeerAttachment, length: Int64?
    ) throws -> DocumentAttachment {
        do {
            return try stored.described(
                as: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos, length: length)
        } catch let error as DatabaseError { throw PeerError(error, of: peer.name) }
    }

    private func place(_ attachment: PeerAttachment) -> String {
        "the attachment \"\(attachment.name)\" of \(revision.revision) of \"\(revision.id)\""
    }

    /// The attachments of the document's leaves and of the revision's known ancestors.
    private func attachmentsHere() async throws -> [DocumentAttachment] {
        let (id, history) = (revision.id, revision.history)
        return try await peer.perform { database in
            guard let tree = try Self.readable({ try database.tree(of: id) }) else { return [] }
            let known = history.revisions.first { tree.contains($0) }
            let wanted = tree.leaves.map(\.revision) + [known].compactMap(\.self)
            return try wanted.flatMap { revision in
                try Self.readable { try database.document(id, revision: revision) }?.attachments ?? []
            }
        }
    }

    /// Reads local content. Unreadable content counts as missing, and is fetched with the revision.
    private static func readable<Value>(_ read: () throws -> Value?) throws -> Value? {
        do { return try read() } catch let error as DatabaseError where error.code == .damagedDocument { return nil }
    }
}

// MARK: - AttachmentSink

/// Writes an attachment's stored bytes piece by piece, off the caller's thread.
///
/// Unchecked: the writer needs no lock, because one call uses it at a time and is awaited before the next.
final class AttachmentSink: @unchecked Sendable {
    private let peer: LocalPeer
    private let writer: AttachmentWriter
    /// The number of written bytes, including resumed ones.
    private(set) var length: Int64

    /// Starts without content.
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

/// Passes a value from the thread that created it to the thread that waits for it.
///
/// Unchecked: it needs no lock, because it is made on one thread and then used only on the other.
private struct Unshared<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
