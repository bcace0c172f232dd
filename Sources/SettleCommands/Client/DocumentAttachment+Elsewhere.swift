internal import Settle
import SettleDatabase
import SettleReplication

extension DocumentAttachment {
    /// What stands for the stored bytes of an attachment whose content is at a server alone: no hash, but its digest twice.
    static func elsewhere(_ digest: AttachmentDigest) -> BlobDigest? { BlobDigest(digest.md5 + digest.md5) }

    /// Whether the content is at a server alone.
    var isElsewhere: Bool { blob == Self.elsewhere(digest) }

    /// The largest content that is held in memory on its way.
    private static let largestHeld: Int64 = 1024 * 1024

    /// The attachment on its way to a peer, its content read from a database.
    func onTheWay(from database: Database) -> PeerAttachment {
        let source = StoredContent(database: database, attachment: self)
        if encodedLength <= Self.largestHeld, let bytes = try? source.bytes { return onTheWay(as: .bytes(bytes)) }
        return onTheWay(as: .source(source))
    }

    /// The attachment on its way to a peer.
    func onTheWay(as content: PeerAttachment.Content) -> PeerAttachment {
        PeerAttachment(
            name: name, contentType: contentType, revpos: revpos, digest: digest, length: length,
            encodedLength: encodedLength, encoding: encoding, content: content)
    }
}

/// The stored bytes of an attachment of a database on this machine.
private struct StoredContent: AttachmentSource {
    let database: Database
    let attachment: DocumentAttachment

    /// All of them.
    var bytes: [UInt8] {
        get throws { try database.attachmentReader(for: attachment, encoded: true).readAll() }
    }

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        let reader = try database.attachmentReader(for: attachment, encoded: true)
        var place: Int64 = 0
        while let piece = try reader.read() {
            let end = place + Int64(piece.count)
            if end > offset { try await body(place >= offset ? piece : Array(piece[Int(offset - place)...])) }
            place = end
        }
    }
}
