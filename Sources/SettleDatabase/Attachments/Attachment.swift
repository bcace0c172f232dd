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

extension Attachment {
    /// The same stored bytes under another name and type, as one who brings them knows them: an import, or a peer.
    ///
    /// The content is kept from being collected by this attachment too.
    ///
    /// - Parameters:
    ///   - name: The name in its document.
    ///   - contentType: The media type.
    ///   - revpos: The generation it came in, or 0.
    ///   - length: The length it is said to have without encoding; of compressed content that of the stored bytes too, which is
    ///     what CouchDB says where it does not know. Its own unless given.
    /// - Returns: The attachment.
    /// - Throws: ``DatabaseError`` with code `invalid` for a name that is empty or starts with an underscore, and for a length
    ///   that it has not.
    package func described(
        as name: String, contentType: String, revpos: UInt64, length: Int64? = nil
    ) throws -> Attachment {
        guard !name.isEmpty, name.utf8.first != UInt8(ascii: "_") else {
            throw DatabaseError(.invalid, "\"\(name)\" is no name for an attachment: it is empty or starts with _")
        }
        if let length, length != self.length, encoding == .identity || length != encodedLength {
            throw DatabaseError(
                .invalid, "the attachment \"\(name)\" is said to have \(length) bytes, and has \(self.length)")
        }
        return Attachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length ?? self.length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }

    /// The same attachment, whose content is not collected as long as it lives.
    func holding(_ pending: PendingBlob) -> Attachment {
        Attachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }
}
