/// The digest of an attachment as it travels: `md5-` and the base64 of the MD5 of the bytes that are stored, which are
/// gzip bytes where the type is compressible.
public struct AttachmentDigest: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes of the MD5.
    public let md5: [UInt8]

    /// Makes a digest of an MD5, or returns `nil` when it has not 16 bytes.
    public init?(md5: [UInt8]) {
        guard md5.count == 16 else { return nil }
        self.md5 = md5
    }

    /// Reads `md5-…`, or returns `nil`.
    public init?(_ text: String) {
        guard text.hasPrefix("md5-"), let bytes = Base64.decode(text.dropFirst(4).utf8) else { return nil }
        self.init(md5: bytes)
    }

    /// The digest as CouchDB prints it.
    public var description: String { "md5-" + Base64.encode(md5) }
}
