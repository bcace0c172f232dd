internal import SettleCore
internal import SettleDatabase

extension DocumentPrinter {
    /// The largest content that is put into the text, in bytes; larger ones are read when they are sent.
    private static let largestInText = 64 * 1024

    /// Appends the member `_attachments`.
    func append(
        _ attachments: [DocumentAttachment], of id: DocumentID, wanted: [Bool], to text: inout WireText
    ) throws {
        text += ",\"_attachments\":{".utf8
        for (index, (attachment, isWanted)) in zip(attachments, wanted).enumerated() {
            if index > 0 { text += ",".utf8 }
            JSONValue.append(attachment.name, to: &text.bytes)
            text += ":{\"content_type\":".utf8
            JSONValue.append(attachment.contentType, to: &text.bytes)
            text += ",\"revpos\":\(attachment.revpos),\"digest\":\"\(attachment.digest)\"".utf8
            if !isWanted {
                text += ",\"length\":\(attachment.length),\"stub\":true".utf8
            } else if options.follows {
                text += ",\"length\":\(attachment.length),\"follows\":true".utf8
            } else {
                try append(dataOf: attachment, of: id, to: &text)
            }
            if options.hasEncodingInfo, attachment.encoding != .identity {
                let (encoding, length) = (attachment.encoding.rawValue, attachment.encodedLength)
                text += ",\"encoding\":\"\(encoding)\",\"encoded_length\":\(length)".utf8
            }
            text += "}".utf8
        }
        text += "}".utf8
    }

    /// Appends the content as `data`. An unreadable one is a stub in a list, and an error elsewhere.
    private func append(dataOf attachment: DocumentAttachment, of id: DocumentID, to text: inout WireText) throws {
        let content: Content
        do { content = try self.content(of: attachment) } catch let error as DatabaseError
            where error.code == .attachmentMissing
        {
            let told = DatabaseError(
                .attachmentMissing,
                "the attachment \"\(attachment.name)\" of \"\(id)\" can't be read: \(error.message)",
                cause: error)
            guard options.isInList else { throw told }
            try source.database.note(told, of: id)
            text += ",\"length\":\(attachment.length),\"stub\":true".utf8
            return
        }
        text += ",\"data\":\"".utf8
        switch content {
        case .small(let bytes): text += Base64.encode(bytes).utf8
        case .large(let held): text.append(contentOf: held)
        }
        text += "\"".utf8
    }

    private enum Content {
        case small([UInt8])
        case large(DocumentAttachment)
    }

    private func content(of attachment: DocumentAttachment) throws -> Content {
        // Kept from being collected until it was sent.
        let database = try source.database
        let held = try database.held(attachment)
        let reader = try database.attachmentReader(for: held)
        var bytes: [UInt8] = []
        while let piece = try reader.read() {
            bytes += piece
            if bytes.count > Self.largestInText { return .large(held) }
        }
        return .small(bytes)
    }
}
