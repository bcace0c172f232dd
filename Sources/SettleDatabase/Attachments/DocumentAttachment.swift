package import SettleCore
internal import SettlePlatform

/// A binary that belongs to a revision of a document.
///
/// A value of this type is what CouchDB calls a stub: it names the content, which stays in the database. Content is
/// stored once for any number of documents. Types that compress well (`text/*`, JSON, JavaScript, XML) are
/// stored as gzip, as in CouchDB, because the digest and so the revision id are computed from those bytes.
public struct DocumentAttachment: Sendable, Hashable {
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
    package let blob: BlobDigest
    /// The content until a database stores it, and the pin that keeps it from being collected.
    let pending: PendingBlob?

    /// Creates an attachment whose content is stored in a database.
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

    /// Whether the attachment has this name, byte for byte.
    package func isNamed(_ name: String) -> Bool { self.name.hasSameBytes(as: name) }

    /// The part of the attachment that enters a revision id.
    package var signature: AttachmentSignature {
        AttachmentSignature(name: name, contentType: contentType, md5: digest.md5)
    }

    /// Whether name, type, revpos, digest and lengths are equal; names and types byte for byte.
    public static func == (left: DocumentAttachment, right: DocumentAttachment) -> Bool {
        left.isNamed(right.name) && left.contentType.hasSameBytes(as: right.contentType)
            && left.revpos == right.revpos && left.digest == right.digest && left.length == right.length
            && left.blob == right.blob
    }

    /// Hashes name and digest.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(digest)
    }
}

/// The digest of an attachment in the API: `md5-` and the base64 of the MD5 of the stored bytes, which are
/// gzip bytes if the type is compressible.
public struct AttachmentDigest: Hashable, Sendable, CustomStringConvertible {
    /// The 16 bytes of the MD5.
    public let md5: [UInt8]

    /// Creates a digest from an MD5; `nil` if it does not have 16 bytes.
    public init?(md5: [UInt8]) {
        guard md5.count == 16 else { return nil }
        self.md5 = md5
    }

    /// Parses `md5-…`; `nil` if the text is anything else.
    public init?(_ text: String) {
        guard text.hasPrefix("md5-"), let bytes = Base64.decode(text.dropFirst(4).utf8) else { return nil }
        self.init(md5: bytes)
    }

    /// The digest in CouchDB's form.
    public var description: String { "md5-" + Base64.encode(md5) }
}

extension DocumentAttachment {
    /// Returns an attachment with the same stored bytes and another name and type, for an import or a peer.
    ///
    /// The new attachment pins the content, too.
    ///
    /// - Parameters:
    ///   - name: The name in its document.
    ///   - contentType: The media type.
    ///   - revpos: The generation of the revision it came with, or 0.
    ///   - length: The declared length of the expanded content; by default that of this attachment. For compressed
    ///     content it may also be the length of the stored bytes, which CouchDB sends if it does not know the
    ///     expanded length.
    /// - Returns: The attachment.
    /// - Throws: ``DatabaseError`` with code `invalid` for a name that starts with an underscore, and for a wrong length.
    package func described(
        as name: String, contentType: String, revpos: UInt64, length: Int64? = nil
    ) throws -> DocumentAttachment {
        guard name.utf8.first != UInt8(ascii: "_") else {
            throw DatabaseError(.invalid, "\"\(name)\" can't name an attachment: it starts with _")
        }
        if let length, length != self.length, encoding == .identity || length != encodedLength {
            throw DatabaseError(
                .invalid, "the attachment \"\(name)\" is said to have \(length) bytes, and has \(self.length)")
        }
        return DocumentAttachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length ?? self.length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }

    /// Returns the attachment with a pin on its content.
    func holding(_ pending: PendingBlob) -> DocumentAttachment {
        DocumentAttachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length,
            encodedLength: encodedLength, encoding: encoding, blob: blob, pending: pending)
    }
}

// MARK: - Wire

extension DocumentAttachment {
    /// The member of `_attachments` that describes it: a stub if the content is not included.
    ///
    /// - Parameters:
    ///   - content: Where the content is.
    ///   - hasLength: Whether the member has the length, which CouchDB leaves out beside `data`.
    ///   - hasEncoding: Whether the member has the encoding of the stored bytes, if they are encoded.
    /// - Returns: The member.
    package func wire(
        _ content: WireAttachment.Content = .stub, hasLength: Bool = true, hasEncoding: Bool = false
    ) -> WireAttachment {
        let isEncoded = hasEncoding && encoding != .identity
        return WireAttachment(
            name, contentType: contentType, revpos: revpos, digest: digest.description,
            length: hasLength ? length : nil, encoding: isEncoded ? encoding.rawValue : nil,
            encodedLength: isEncoded ? encodedLength : nil, content: content)
    }
}

// MARK: - Packed

extension DocumentAttachment {
    /// A list of attachments as stored beside a body: JSON, one array for each.
    ///
    ///     [["photo.jpg","image/jpeg",3,"md5-…",length,encoded length,"identity","sha-256 in hex"], …]
    static func packed(_ attachments: [DocumentAttachment]) -> [UInt8]? {
        guard !attachments.isEmpty else { return nil }
        return JSONValue.array(
            attachments.map { attachment in
                [
                    .string(attachment.name), .string(attachment.contentType),
                    .number(JSONNumber(attachment.revpos)), .string(attachment.digest.description),
                    .number(JSONNumber(attachment.length)), .number(JSONNumber(attachment.encodedLength)),
                    .string(attachment.encoding.rawValue), .string(attachment.blob.description),
                ]
            }
        ).utf8
    }

    /// Reads a packed list.
    ///
    /// - Throws: ``DamagedAttachments`` if the bytes are not packed attachments.
    static func unpack(_ bytes: [UInt8]) throws -> [DocumentAttachment] {
        guard let rows = (try? JSONValue(utf8: bytes))?.array else {
            throw DamagedAttachments("the list of attachments is no JSON", in: bytes)
        }
        return try rows.enumerated().map { index, row in
            guard let attachment = DocumentAttachment(packed: row) else {
                let name = row[0]?.string.map { "\"\($0)\"" } ?? "number \(index + 1)"
                throw DamagedAttachments("the attachment \(name) is stored as \(row)", in: bytes)
            }
            return attachment
        }
    }

    private init?(packed row: JSONValue) {
        guard let name = row[0]?.string, let contentType = row[1]?.string,
            let revpos = row[2]?.int.flatMap({ UInt64(exactly: $0) }),
            let digest = row[3]?.string.flatMap({ AttachmentDigest($0) }),
            let length = row[4]?.int, let encodedLength = row[5]?.int, length >= 0, encodedLength >= 0,
            let encoding = row[6]?.string.flatMap({ Encoding(rawValue: $0) }),
            let blob = row[7]?.string.flatMap({ BlobDigest(hexadecimal: $0) })
        else { return nil }
        self.init(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: Int64(length),
            encodedLength: Int64(encodedLength), encoding: encoding, blob: blob)
    }

    /// Checks that ``unpack(_:)`` will accept the numbers; every attachment is checked before it is stored.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    func checkNumbers(of id: DocumentID) throws {
        for (what, number) in [("length", length), ("encoded length", encodedLength)] where number < 0 {
            throw DatabaseError(
                .invalid, "the attachment \"\(name)\" of \"\(id)\" has the \(what) \(number), below zero")
        }
        guard revpos <= RevisionID.maximumGeneration else {
            throw DatabaseError(
                .invalid, "the attachment \"\(name)\" of \"\(id)\" has the revpos \(revpos), which no revision can have"
            )
        }
    }
}

// MARK: - DamagedAttachments

/// The reason why a packed list of attachments can't be read, and the contents that it still names.
struct DamagedAttachments: Error, CustomStringConvertible {
    /// The problem and its place.
    let description: String
    /// Each digest of a content that the damaged list still contains, so that none of the contents is collected.
    let blobs: Set<BlobDigest>

    init(_ description: String, in bytes: [UInt8]) {
        self.description = description
        let words = bytes.split { !Self.digits.contains($0) }.filter { $0.count == 64 }
        blobs = Set(words.compactMap { BlobDigest(hexadecimal: String(decoding: $0, as: UTF8.self)) })
    }

    private static let digits = Set("0123456789abcdef".utf8)
}

extension DatabaseError {
    /// The contents that a damaged list of attachments names.
    var namedBlobs: Set<BlobDigest> {
        (cause as? DamagedAttachments)?.blobs ?? (cause as? DatabaseError)?.namedBlobs ?? []
    }
}
