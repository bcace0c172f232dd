internal import SettlePlatform

/// A member of `_attachments`, with what the text says of it.
///
///     "a.png":{"content_type":"image/png","revpos":2,"digest":"md5-…","length":5,"stub":true}
package struct WireAttachment: Sendable {
    /// Where the content is.
    package enum Content: Sendable, Hashable {
        /// In the JSON itself, as `data`.
        case inline([UInt8])
        /// At the reader already: the text is a stub.
        case stub
        /// Outside of the JSON, in a later part of the request; in a file before the document, under a name.
        case follows(name: String? = nil)
    }

    /// The name, unique in its document.
    package var name: String
    /// The media type, as given.
    package var contentType: String
    /// The generation in which it was added or last changed; `nil` if the text says none.
    package var revpos: UInt64?
    /// Whether the text has a `revpos` that is not a generation.
    package private(set) var hasWrongRevpos = false
    /// The digest with its kind, such as `md5-…`; `nil` if the text says none.
    package var digest: String?
    /// The length of the content in bytes; `nil` if the text says none.
    package var length: Int64?
    /// How the stored bytes are encoded; `nil` if the text says none.
    package var encoding: String?
    /// The length of the stored bytes; `nil` if the text says none.
    package var encodedLength: Int64?
    /// Where the content is.
    package var content: Content

    /// The reserved member of a document that lists its attachments.
    package static let listName = "_attachments"
    /// The type of an attachment that names none.
    package static let defaultType = "application/octet-stream"

    /// Creates a member.
    package init(
        _ name: String, contentType: String = defaultType, revpos: UInt64? = nil, digest: String? = nil,
        length: Int64? = nil, encoding: String? = nil, encodedLength: Int64? = nil, content: Content
    ) {
        (self.name, self.contentType, self.revpos, self.digest) = (name, contentType, revpos, digest)
        (self.length, self.encoding, self.encodedLength, self.content) = (length, encoding, encodedLength, content)
    }

    /// Reads a member.
    ///
    /// - Throws: ``WireDocument/Fault``.
    package init(_ name: String, _ value: JSONValue, _ reading: WireDocument.Reading) throws(WireDocument.Fault) {
        self.name = name
        contentType = value["content_type"]?.string ?? Self.defaultType
        digest = value["digest"]?.string
        encoding = value["encoding"]?.string
        revpos = value["revpos"]?.int.flatMap { UInt64(exactly: $0) }
        hasWrongRevpos = revpos == nil && value["revpos"] != nil
        if case .request = reading {
            length = try Self.number("length", of: name, in: value)
            encodedLength = try Self.number("encoded_length", of: name, in: value)
            if value["stub"] == true {
                content = .stub
                return
            }
            _ = try Self.number("revpos", of: name, in: value)
            if value["follows"] == true {
                content = .follows()
                return
            }
            guard let data = value["data"]?.string.flatMap({ Base64.decode($0.utf8) ?? Self.decodeWithBlanks($0) })
            else { throw .attachmentData(name: name) }
            content = .inline(data)
            return
        }
        // A file of couchbackup has the name of Cloudant's libraries.
        if let type = value["contentType"]?.string, value["content_type"] == nil { contentType = type }
        length = value["length"]?.int.map(Int64.init)
        encodedLength = value["encoded_length"]?.int.map(Int64.init)
        if let data = value["data"] {
            guard let bytes = data.string.flatMap({ Base64.decode($0.utf8) }) else {
                throw .attachmentData(name: name)
            }
            content = .inline(bytes)
        } else if let follows = value["follows"] {
            content = .follows(name: follows.string)
        } else {
            content = .stub
        }
    }

    /// A number of at least zero in an attachment; `nil` if it is missing.
    private static func number(
        _ member: String, of name: String, in value: JSONValue
    ) throws(WireDocument.Fault) -> Int64? {
        guard let given = value[member], !given.isNull else { return nil }
        guard let number = given.int.flatMap({ Int64(exactly: $0) }), number >= 0 else {
            throw .attachmentNumber(name: name, member: member)
        }
        return number
    }

    /// CouchDB ignores white space in base64.
    private static func decodeWithBlanks(_ text: String) -> [UInt8]? {
        Base64.decode(text.utf8.filter { $0 > UInt8(ascii: " ") })
    }
}

// MARK: - Printing

extension WireAttachment {
    /// The value of `_attachments`.
    package static func json(_ list: [WireAttachment]) -> JSONValue {
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (index, attachment) in list.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            attachment.append(to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return (try? JSONValue(utf8: bytes)) ?? .object(JSONObject())
    }

    /// Appends the member.
    package func append(to bytes: inout [UInt8]) {
        appendHead(to: &bytes)
        switch content {
        case .stub: bytes += ",\"stub\":true".utf8
        case .follows(let name):
            bytes += ",\"follows\":".utf8
            if let name { JSONValue.append(name, to: &bytes) } else { bytes += "true".utf8 }
        case .inline(let content): bytes += ",\"data\":\"\(Base64.encode(content))\"".utf8
        }
        appendEnd(to: &bytes)
    }

    /// Appends the name and the members before the content.
    package func appendHead(to bytes: inout [UInt8]) {
        JSONValue.append(name, to: &bytes)
        bytes += ":{\"content_type\":".utf8
        JSONValue.append(contentType, to: &bytes)
        if let revpos { bytes += ",\"revpos\":\(revpos)".utf8 }
        if let digest {
            bytes += ",\"digest\":".utf8
            JSONValue.append(digest, to: &bytes)
        }
        if let length { bytes += ",\"length\":\(length)".utf8 }
        // A file says only which encoding it is, before the content.
        if let encoding, encodedLength == nil { Self.append(encoding, to: &bytes) }
    }

    /// Appends the members after the content.
    package func appendEnd(to bytes: inout [UInt8]) {
        if let encoding, let encodedLength {
            Self.append(encoding, to: &bytes)
            bytes += ",\"encoded_length\":\(encodedLength)".utf8
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func append(_ encoding: String, to bytes: inout [UInt8]) {
        bytes += ",\"encoding\":".utf8
        JSONValue.append(encoding, to: &bytes)
    }
}
