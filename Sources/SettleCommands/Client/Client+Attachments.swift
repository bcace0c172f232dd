internal import Settle
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
        let (asked, length, pipe) = (query, input.size, PiecePipe())
        let answer = try wait(
            about: id,
            meanwhile: {
                while case let piece = try input.read(), !piece.isEmpty {
                    guard try pipe.put(piece) else { return }
                }
                try pipe.finish()
            },
            for: { connection, _ in
                defer { pipe.close() }
                let path = HTTPPath.attachment(name, of: id)
                let body = TransportRequestBody.stream(length: length) { pipe.open() }
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
        while let piece = try next(of: response) {
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
