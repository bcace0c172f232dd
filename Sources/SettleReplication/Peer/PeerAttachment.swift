public import SettleDatabase

/// An attachment on its way from one peer to another.
public struct PeerAttachment: Sendable {
    /// Where the stored bytes are: gzip bytes if that is the ``PeerAttachment/encoding``.
    public enum Content: Sendable {
        /// The target has them, with an ancestor it said it knows.
        case stub
        /// They are here, few enough to be held in memory.
        case bytes([UInt8])
        /// They are read from the source piece by piece.
        case source(any AttachmentSource)
    }

    /// The name, unique in its document.
    public var name: String
    /// The media type, as given.
    public var contentType: String
    /// The generation in which it was added or last changed.
    public var revpos: UInt64
    /// The digest of the stored bytes.
    public var digest: AttachmentDigest
    /// The length of the content, in bytes.
    public var length: Int64
    /// The length of the stored bytes.
    public var encodedLength: Int64
    /// How the stored bytes are encoded.
    public var encoding: Attachment.Encoding
    /// Where the stored bytes are.
    public var content: Content

    /// Makes an attachment.
    public init(
        name: String, contentType: String, revpos: UInt64, digest: AttachmentDigest, length: Int64,
        encodedLength: Int64, encoding: Attachment.Encoding, content: Content
    ) {
        self.name = name
        self.contentType = contentType
        self.revpos = revpos
        self.digest = digest
        self.length = length
        self.encodedLength = encodedLength
        self.encoding = encoding
        self.content = content
    }
}
