internal import SettleCrypto
internal import SettleDatabase

/// The stored bytes of an attachment of a local database, read piece by piece. If they are read from the first byte on, they are
/// compared with the digest, and the last piece is returned only if they are right. After a cut the receiver compares them.
struct LocalAttachmentSource: AttachmentSource {
    let peer: LocalPeer
    let attachment: DocumentAttachment
    private static let pieceLength: Int64 = 256 * 1024

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        var offset = offset
        let (attachment, end) = (attachment, attachment.encodedLength)
        let hash = offset == 0 ? MD5() : nil
        while offset < end {
            let range = offset..<min(end, offset + Self.pieceLength)
            let piece = try await peer.perform { database in
                try database.attachmentReader(for: attachment, encoded: true, range: range).readAll()
            }
            hash?.update(piece)
            if range.upperBound == end, let hash, hash.finish() != attachment.digest.md5 {
                let damage = "the content of \"\(attachment.name)\" is damaged: its digest differs"
                throw PeerError(DatabaseError(.attachmentMissing, damage), of: peer.name)
            }
            try await body(piece)
            offset = range.upperBound
        }
    }
}
