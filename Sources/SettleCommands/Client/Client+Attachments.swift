internal import Settle
import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
import SettleReplication

extension Client {
    /// Streams a file as an attachment of a document: this thread reads it, and the client takes the pieces at the
    /// pace of the connection.
    ///
    /// - Parameters:
    ///   - input: The content.
    ///   - name: The attachment's name.
    ///   - type: Its media type.
    ///   - id: The document.
    ///   - revision: The leaf it is added to; `nil` for a new document.
    /// - Returns: The new revision.
    /// - Throws: ``CommandError``; what was sent by then is nowhere.
    func attach(
        _ input: ByteInput, _ name: String, _ type: String, to id: DocumentID, on revision: RevisionID?
    ) throws -> String {
        var query = HTTPQuery()
        query["rev"] = revision?.description
        let (asked, length, pipe, isOpen) = (query, input.size, BytePipe(), Guarded(false))
        let answer = try wait(
            about: id,
            meanwhile: {
                while case let piece = try input.read(), !piece.isEmpty {
                    guard try pipe.write(piece, checking: Interruption.check) else { return }
                }
                pipe.finish()
            },
            for: { connection, _ in
                defer { pipe.cut() }
                let path = HTTPPath.attachment(name, of: id)
                let body = HTTPBody.stream(length: length) {
                    let wasOpen = isOpen.withLock { isOpen in
                        defer { isOpen = true }
                        return isOpen
                    }
                    return {
                        // What was read once can't be sent again.
                        guard !wasOpen else {
                            throw CommandError(
                                "connection_lost", "the connection broke on the way; try again", status: .inputOutput)
                        }
                        return try await pipe.next()
                    }
                }
                let response = try await connection.stream("PUT", path, query: asked, body: body) { request in
                    request.headers["Content-Type"] = type
                    request.headers["Accept"] = "application/json"
                }
                return try JSONValue(utf8: try await response.collect(limit: 1 << 20))
            })
        return answer["rev"]?.string ?? ""
    }

    /// Hands on the content of an attachment, piece by piece.
    func read(_ attachment: DocumentAttachment, of document: Document, _ body: ([UInt8]) throws -> Void) throws {
        var query = HTTPQuery()
        query["rev"] = document.revision?.description
        let path = HTTPPath.attachment(attachment.name, of: document.id)
        let response = try stream(path, query: query, about: document.id) { request in
            request.headers["Accept"] = "*/*"
            request.acceptsCompression = true
        }
        var count: Int64 = 0
        let next = pieces(of: response)
        while let piece = try next() {
            count += Int64(piece.count)
            try body(piece)
        }
        guard count == attachment.length else {
            throw CommandError(
                "attachment_missing",
                "\"\(attachment.name)\" of \"\(document.id)\" came with \(count) of \(attachment.length) bytes",
                status: .damaged)
        }
    }
}

// MARK: - Elsewhere

extension DocumentAttachment {
    /// What stands for the stored bytes of an attachment whose content is at a server alone: no hash, but its digest twice.
    static func elsewhere(_ digest: AttachmentDigest) -> BlobDigest? { BlobDigest(digest.md5 + digest.md5) }

    /// Whether the content is at a server alone.
    var isElsewhere: Bool { blob == Self.elsewhere(digest) }

    /// The largest content that is held in memory on its way.
    private static let largestHeld: Int64 = 1024 * 1024

    /// The attachment on its way to a peer, its content read from a database.
    func onTheWay(from database: Database) -> PeerAttachment {
        let source = StoredContent(database: database, attachment: self)
        if encodedLength <= Self.largestHeld, let bytes = try? source.bytes { return onTheWay(as: .bytes(bytes)) }
        return onTheWay(as: .source(source))
    }

    /// The attachment on its way to a peer.
    func onTheWay(as content: PeerAttachment.Content) -> PeerAttachment {
        PeerAttachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length,
            encodedLength: encodedLength, encoding: encoding, content: content)
    }
}

/// The stored bytes of an attachment of a database on this machine.
private struct StoredContent: AttachmentSource {
    let database: Database
    let attachment: DocumentAttachment

    /// All of them.
    var bytes: [UInt8] {
        get throws { try database.attachmentReader(for: attachment, encoded: true).readAll() }
    }

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        let reader = try database.attachmentReader(for: attachment, encoded: true)
        var place: Int64 = 0
        while let piece = try reader.read() {
            let end = place + Int64(piece.count)
            if end > offset { try await body(place >= offset ? piece : Array(piece[Int(offset - place)...])) }
            place = end
        }
    }
}
