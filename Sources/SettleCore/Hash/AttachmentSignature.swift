/// The parts of an attachment that enter a revision id.
public struct AttachmentSignature: Hashable, Sendable {
    /// The attachment's name.
    public let name: String
    /// Its media type, spelled as given.
    public let contentType: String
    /// The 16 bytes of the MD5 of its content, or of the gzip bytes if it is compressed.
    public let md5: [UInt8]

    /// Makes a signature.
    public init(name: String, contentType: String, md5: [UInt8]) {
        self.name = name
        self.contentType = contentType
        self.md5 = md5
    }
}
