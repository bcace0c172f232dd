internal import SettleCore
internal import SettleDatabase

/// An attachment as a peer's document lists it, with or without its content.
struct WireStub {
    let name: String
    let contentType: String
    let revpos: UInt64
    let digest: AttachmentDigest
    /// The length of the content; with `data`, that of the data.
    let length: Int64
    let encodedLength: Int64
    let encoding: DocumentAttachment.Encoding
    /// The decoded content, if it was requested.
    let data: [UInt8]?

    /// Reads one member of `_attachments`.
    ///
    /// - Throws: ``WireFault``.
    init(_ name: String, _ value: JSONValue) throws {
        guard let text = value["digest"]?.string, let digest = AttachmentDigest(text) else {
            throw WireFault("the attachment \"\(name)\" has no md5 digest")
        }
        data = try value["data"].map { data in
            guard let text = data.string, let bytes = Base64.decode(text.utf8) else {
                throw WireFault("the data of the attachment \"\(name)\" is no base64")
            }
            return bytes
        }
        guard let length = data.map({ Int64($0.count) }) ?? value["length"]?.int.map(Int64.init), length >= 0 else {
            throw WireFault("the attachment \"\(name)\" has no length")
        }
        switch value["encoding"]?.string ?? "identity" {
        case "identity": (encoding, encodedLength) = (.identity, length)
        case "gzip":
            guard let stored = value["encoded_length"]?.int, stored >= 0 else {
                throw WireFault("the attachment \"\(name)\" has no encoded_length")
            }
            (encoding, encodedLength) = (.gzip, Int64(stored))
        case let other: throw WireFault("the attachment \"\(name)\" has the encoding \(other), which is not known")
        }
        self.name = name
        self.digest = digest
        self.length = length
        contentType = value["content_type"]?.string ?? "application/octet-stream"
        revpos = value["revpos"]?.int.flatMap { UInt64(exactly: $0) } ?? 0
    }
}
