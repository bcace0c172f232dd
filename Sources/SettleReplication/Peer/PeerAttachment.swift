package import SettleDatabase

/// An attachment in transfer between two peers.
package struct PeerAttachment: Sendable {
    /// Where the stored bytes are: gzip bytes if that is the ``PeerAttachment/encoding``.
    package enum Content: Sendable {
        /// The target has them, in an ancestor that it reported as known.
        case stub
        /// They are in memory; only small ones are.
        case bytes([UInt8])
        /// They are streamed from the source.
        case source(any AttachmentSource)
    }

    /// The name, unique in its document.
    package var name: String
    /// The media type, as given.
    package var contentType: String
    /// The generation in which it was added or last changed.
    package var revpos: UInt64
    /// The digest of the stored bytes.
    package var digest: AttachmentDigest
    /// The length of the content, in bytes.
    package var length: Int64
    /// The length of the stored bytes.
    package var encodedLength: Int64
    /// How the stored bytes are encoded.
    package var encoding: DocumentAttachment.Encoding
    /// Where the stored bytes are.
    package var content: Content

    /// Creates an attachment.
    package init(
        name: String, contentType: String, revpos: UInt64, digest: AttachmentDigest, length: Int64,
        encodedLength: Int64, encoding: DocumentAttachment.Encoding, content: Content
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
