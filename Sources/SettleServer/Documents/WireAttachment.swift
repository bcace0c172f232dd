internal import RevisionTree
internal import SettleDatabase

/// One member of `_attachments` as a request brings it.
struct WireAttachment: Sendable {
    /// Where the content is.
    enum Content: Sendable {
        /// In the JSON itself.
        case inline([UInt8])
        /// In the revision this one is made on; of the place given, if one is.
        case stub(revpos: JSON?)
        /// In a later part of the request.
        case follows(length: Int64?, encoding: Attachment.Encoding?, encodedLength: Int64?)
    }

    let name: String
    let contentType: String
    let revpos: UInt64
    let content: Content

    /// Reads one.
    ///
    /// - Throws: ``HTTPError`` for a name or data that can't be.
    init(_ name: String, _ value: JSON) throws {
        self.name = name
        contentType = value["content_type"]?.string ?? "application/octet-stream"
        revpos = value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? 0
        if value["stub"] == true {
            content = .stub(revpos: value["revpos"])
        } else if value["follows"] == true {
            let length = value["length"]?.int.map(Int64.init)
            let encoding = value["encoding"]?.string.flatMap { Attachment.Encoding(rawValue: $0) }
            content = .follows(
                length: length, encoding: encoding,
                encodedLength: encoding == nil ? length : value["encoded_length"]?.int.map(Int64.init) ?? length)
        } else {
            guard let text = value["data"]?.string, let data = Self.decode(text) else {
                throw HTTPError.badRequest("Invalid attachment data for \(name)")
            }
            content = .inline(data)
        }
    }

    /// Sees that an attachment may have a name.
    static func check(name: String) throws {
        if name.utf8.first == UInt8(ascii: "_") {
            throw HTTPError.badRequest("Attachment name '\(name)' starts with prohibited character '_'")
        }
    }

    /// White space in base64 does not count.
    private static func decode(_ text: String) -> [UInt8]? {
        let isPlain = text.utf8.allSatisfy { $0 > UInt8(ascii: " ") }
        return Base64.decode(isPlain ? Array(text.utf8) : text.utf8.filter { $0 > UInt8(ascii: " ") })
    }
}
