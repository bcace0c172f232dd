internal import SettleCore

/// A binary that belongs to a revision of a document.
///
/// A value of this type is what CouchDB calls a stub: it names the content, which stays in the database. Content is
/// stored once however many documents hold it. Types that compress well (`text/*`, JSON, JavaScript, XML) are
/// kept as gzip, as CouchDB does, because the digest and so the revision id come from those bytes.
public struct Attachment: Sendable, Hashable {
    /// How the stored bytes are encoded.
    public enum Encoding: String, Sendable, Hashable {
        /// The bytes are the content.
        case identity
        /// The bytes are the content compressed by gzip.
        case gzip
    }

    /// The name, unique in its document.
    public let name: String
    /// The media type, spelled as given.
    public let contentType: String
    /// The generation of the revision in which it was added or last changed; 0 until it is saved.
    public internal(set) var revpos: UInt64
    /// The digest of the stored bytes.
    public let digest: AttachmentDigest
    /// The length of the content, in bytes.
    public let length: Int64
    /// The length of the stored bytes; the same as ``length`` unless they are compressed.
    public let encodedLength: Int64
    /// How the stored bytes are encoded.
    public let encoding: Encoding
    /// The name of the stored bytes in the database.
    public let blob: BlobDigest
    /// The content itself while no database holds it yet, or what keeps it from being collected.
    let pending: PendingBlob?

    /// Makes an attachment of its parts, whose content a database holds.
    package init(
        name: String, contentType: String, revpos: UInt64, digest: AttachmentDigest, length: Int64,
        encodedLength: Int64, encoding: Encoding, blob: BlobDigest, pending: PendingBlob? = nil
    ) {
        self.name = name
        self.contentType = contentType
        self.revpos = revpos
        self.digest = digest
        self.length = length
        self.encodedLength = encodedLength
        self.encoding = encoding
        self.blob = blob
        self.pending = pending
    }

    /// Whether this is the attachment's name, byte for byte.
    func isNamed(_ name: String) -> Bool { self.name.utf8.elementsEqual(name.utf8) }

    /// What of the attachment enters a revision id.
    var signature: AttachmentSignature {
        AttachmentSignature(name: name, contentType: contentType, md5: digest.md5)
    }

    /// Whether name, type, place, digest and lengths are equal.
    public static func == (left: Attachment, right: Attachment) -> Bool {
        left.name == right.name && left.contentType == right.contentType && left.revpos == right.revpos
            && left.digest == right.digest && left.length == right.length && left.blob == right.blob
    }

    /// Hashes name and digest.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(digest)
    }
}
