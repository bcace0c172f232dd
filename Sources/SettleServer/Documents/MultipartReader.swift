internal import SettleCore
internal import SettleCrypto
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Splits a body into its parts as it arrives.
///
///     --boundary CRLF header CRLF CRLF content CRLF --boundary CRLF … --boundary--
///
/// Memory is bounded: contents are returned as they arrive, except bytes that may begin the next boundary.
struct MultipartReader {
    private let body: any RequestBody
    private let delimiter: [UInt8]
    private var buffer: [UInt8] = Array("\r\n".utf8)
    /// No boundary begins before this index of the buffer.
    private var searched = 0
    private var isAtEnd = false
    /// Whether the boundary after the current part was read; there may be any text before the first one.
    private var isAtBoundary = false
    private static let headerLimit = 16 * 1024

    /// - Throws: ``HTTPError`` if the type has no boundary.
    init(_ body: any RequestBody, contentType: String) throws {
        guard let range = contentType.range(ofParameter: "boundary") else {
            throw HTTPError.badRequest("the boundary of the multipart body is missing")
        }
        self.body = body
        delimiter = Array("\r\n--\(contentType[range])".utf8)
    }

    /// Advances to the next part; returns its header, or `nil` after the last one.
    mutating func nextPart() throws -> HTTPHeaders? {
        while let piece = try readContent() { _ = piece }
        guard try fill(2) else { return nil }
        if buffer.starts(with: "--".utf8) {
            while try more() { buffer = [] }
            return nil
        }
        while true {
            if let end = buffer.firstIndex(of: Array("\r\n\r\n".utf8)) {
                let text = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeFirst(end + 4)
                isAtBoundary = false
                return Self.headers(text)
            }
            guard buffer.count < Self.headerLimit, try more() else {
                throw HTTPError.badRequest("the header of a part of the multipart body has no end")
            }
        }
    }

    /// The next piece of the current part's content, or `nil` at its end.
    mutating func readContent() throws -> [UInt8]? {
        if isAtBoundary { return nil }
        while true {
            if let start = buffer.firstIndex(of: delimiter, from: searched) {
                let piece = Array(buffer[..<start])
                buffer.removeFirst(start + delimiter.count)
                (searched, isAtBoundary) = (0, true)
                return piece.isEmpty ? nil : piece
            }
            searched = max(0, buffer.count - delimiter.count)
            if searched > 64 * 1024 {
                let piece = Array(buffer[..<searched])
                buffer.removeFirst(searched)
                searched = 0
                return piece
            }
            guard try more() else {
                throw HTTPError.badRequest("the multipart body ends without its boundary")
            }
        }
    }

    private mutating func fill(_ count: Int) throws -> Bool {
        while buffer.count < count { if try !more() { return false } }
        return true
    }

    private mutating func more() throws -> Bool {
        guard !isAtEnd else { return false }
        guard let piece = try body.read() else {
            isAtEnd = true
            return false
        }
        buffer += piece
        return true
    }

    private static func headers(_ text: String) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in text.split(separator: "\r\n", omittingEmptySubsequences: true) {
            let name = line.prefix { $0 != ":" }
            headers.add(
                String(name).trimmingBlanks(), String(line[name.endIndex...].dropFirst()).trimmingBlanks())
        }
        return headers
    }
}

extension String {
    /// The range of a header parameter's value, without quotes.
    fileprivate func range(ofParameter name: String) -> Range<Index>? {
        for part in split(separator: ";").dropFirst() {
            let trimmed = part.drop { $0 == " " }
            guard trimmed.lowercased().hasPrefix(name + "=") else { continue }
            var value = trimmed.dropFirst(name.count + 1)
            if value.hasPrefix("\"") { value = value.dropFirst() }
            if value.hasSuffix("\"") { value = value.dropLast() }
            return value.isEmpty ? nil : value.startIndex..<value.endIndex
        }
        return nil
    }
}

// MARK: - MultipartDocumentReader

/// Reads documents sent with their attachments: `multipart/related`.
enum MultipartDocumentReader {
    /// The document of a request, and the contents of its attachments.
    ///
    /// Contents belong to the attachments with `follows`, in order, whatever the names of their parts.
    static func document(
        _ context: RequestContext, _ database: Database
    ) throws -> (WireDocument, FollowingContents) {
        let type = context.request.headers["Content-Type"] ?? ""
        guard type.hasPrefix("multipart/related;") else {
            return (try WireDocument(context.body(), limit: .max), FollowingContents())
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
        var following = FollowingContents()
        for attachment in document.attachments {
            guard case .follows = attachment.content else { continue }
            let (encoding, length) = attachment.following
            guard try reader.nextPart() != nil else {
                throw HTTPError.badRequest("the content of attachment \(attachment.name) does not follow")
            }
            let writer = try database.attachmentWriter(contentType: attachment.contentType, encoding: encoding)
            // What came plain may be compressed here, and a digest means either of both.
            let md5 = encoding == nil && attachment.digest != nil ? MD5() : nil
            var count: Int64 = 0
            while let piece = try reader.readContent() {
                count += Int64(piece.count)
                md5?.update(piece)
                if let length, count > length { throw HTTPError.badRequest("attachment longer than expected") }
                try writer.write(piece)
            }
            if let length, count < length {
                // CouchDB reads the next part as more of this one.
                let isLast = try reader.nextPart() == nil
                throw HTTPError.badRequest("attachment \(isLast ? "shorter" : "longer") than expected")
            }
            following.add(
                try described(try writer.finish(name: attachment.name), attachment),
                received: md5.flatMap { AttachmentDigest(md5: $0.finish()) })
        }
        while try reader.nextPart() != nil {}
        return (document, following)
    }

    private static func described(_ made: DocumentAttachment, _ wire: WireAttachment) throws -> DocumentAttachment {
        let isEncoded = wire.following.encoding == .gzip
        return try made.described(
            as: wire.name, contentType: wire.contentType, revpos: wire.revpos ?? 0,
            length: isEncoded ? wire.length ?? made.encodedLength : nil)
    }
}
