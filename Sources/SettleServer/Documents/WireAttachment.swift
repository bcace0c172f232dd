internal import SettleCore
internal import SettleDatabase

/// A member of `_attachments` in a request.
struct WireAttachment: Sendable {
    enum Content: Sendable {
        /// In the JSON itself.
        case inline([UInt8])
        /// In the parent revision, with the given revpos and digest if any.
        case stub(revpos: JSONValue?, digest: String?)
        /// In a later part of the request.
        case follows(
            length: Int64?, encoding: DocumentAttachment.Encoding?, encodedLength: Int64?, digest: String?)
        /// In the database already.
        case stored(DocumentAttachment)
    }

    let name: String
    let contentType: String
    let revpos: UInt64
    let content: Content

    /// An attachment whose content the database has.
    init(_ attachment: DocumentAttachment) {
        (name, contentType, revpos) = (attachment.name, attachment.contentType, attachment.revpos)
        content = .stored(attachment)
    }

    /// Reads a member.
    ///
    /// - Throws: ``HTTPError`` for an invalid name or invalid data.
    init(_ name: String, _ value: JSONValue) throws {
        self.name = name
        contentType = value["content_type"]?.string ?? "application/octet-stream"
        let length = try Self.number("length", of: name, in: value)
        let encodedLength = try Self.number("encoded_length", of: name, in: value)
        if value["stub"] == true {
            // A wrong revpos is that of another stub.
            revpos = value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? 0
            content = .stub(revpos: value["revpos"], digest: value["digest"]?.string)
            return
        }
        revpos = try Self.number("revpos", of: name, in: value).map(UInt64.init) ?? 0
        if value["follows"] == true {
            let encoding = value["encoding"]?.string.flatMap { DocumentAttachment.Encoding(rawValue: $0) }
            content = .follows(
                length: length, encoding: encoding,
                encodedLength: encoding == nil ? length : encodedLength ?? length, digest: value["digest"]?.string)
        } else {
            guard let text = value["data"]?.string, let data = Self.decode(text) else {
                throw HTTPError.badRequest("Invalid attachment data for \(name)")
            }
            content = .inline(data)
        }
    }

    /// A number of at least zero in an attachment; `nil` if it is missing.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    private static func number(_ member: String, of name: String, in value: JSONValue) throws -> Int64? {
        guard let given = value[member], !given.isNull else { return nil }
        guard let number = given.int.flatMap({ Int64(exactly: $0) }), number >= 0 else {
            throw HTTPError.badRequest("Invalid attachment \(member) for \(name)")
        }
        return number
    }

    /// Checks that an attachment may have a name.
    static func check(name: String) throws {
        if name.utf8.first == UInt8(ascii: "_") {
            throw HTTPError.badRequest("Attachment name '\(name)' starts with prohibited character '_'")
        }
    }

    /// White space in base64 is ignored.
    private static func decode(_ text: String) -> [UInt8]? {
        let isPlain = text.utf8.allSatisfy { $0 > UInt8(ascii: " ") }
        return Base64.decode(isPlain ? Array(text.utf8) : text.utf8.filter { $0 > UInt8(ascii: " ") })
    }
}
