internal import SettleCore
internal import SettleDatabase

/// Reads documents sent with their attachments: `multipart/related`.
enum MultipartDocumentReader {
    /// The document of a request, and its contents, by the bytes of their attachments' names.
    ///
    /// Contents belong to the attachments with `follows`, in order, whatever the names of their parts.
    static func document(
        _ context: RequestContext, _ database: Database
    ) throws -> (WireDocument, [[UInt8]: DocumentAttachment]) {
        let type = context.request.headers["Content-Type"] ?? ""
        guard type.hasPrefix("multipart/related;") else {
            return (try WireDocument(context.body(), limit: .max), [:])
        }
        var reader = try MultipartReader(context.request.body, contentType: type)
        guard try reader.nextPart() != nil else { throw HTTPError.badRequest("the multipart body has no parts") }
        var json: [UInt8] = []
        while let piece = try reader.readContent() {
            json += piece
            guard json.count <= context.options.largestBody else {
                throw HTTPError.bodyTooLarge(context.options.largestBody)
            }
        }
        let document = try WireDocument(json, limit: .max)
        var following: [[UInt8]: DocumentAttachment] = [:]
        for attachment in document.attachments {
            guard case .follows(_, let encoding, let length, _) = attachment.content else { continue }
            guard try reader.nextPart() != nil else {
                throw HTTPError.badRequest("the content of attachment \(attachment.name) does not follow")
            }
            let writer = try database.attachmentWriter(contentType: attachment.contentType, encoding: encoding)
            var count: Int64 = 0
            while let piece = try reader.readContent() {
                count += Int64(piece.count)
                if let length, count > length { throw HTTPError.badRequest("attachment longer than expected") }
                try writer.write(piece)
            }
            if let length, count < length {
                // CouchDB reads the next part as more of this one.
                let isLast = try reader.nextPart() == nil
                throw HTTPError.badRequest("attachment \(isLast ? "shorter" : "longer") than expected")
            }
            following[Array(attachment.name.utf8)] = try described(try writer.finish(name: attachment.name), attachment)
        }
        while try reader.nextPart() != nil {}
        return (document, following)
    }

    private static func described(_ made: DocumentAttachment, _ wire: WireAttachment) throws -> DocumentAttachment {
        guard case .follows(let length, .gzip?, _, _) = wire.content else {
            return try made.described(as: wire.name, contentType: wire.contentType, revpos: wire.revpos)
        }
        return try made.described(
            as: wire.name, contentType: wire.contentType, revpos: wire.revpos, length: length ?? made.encodedLength)
    }
}
