internal import SettleDatabase

/// The stored bytes of an attachment of a local database, read piece by piece.
struct LocalAttachmentSource: AttachmentSource {
    let peer: LocalPeer
    let attachment: DocumentAttachment
    private static let pieceLength: Int64 = 256 * 1024

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        var offset = offset
        let (attachment, end) = (attachment, attachment.encodedLength)
        while offset < end {
            let range = offset..<min(end, offset + Self.pieceLength)
            let piece = try await peer.perform { database in
                try database.attachmentReader(for: attachment, encoded: true, range: range).readAll()
            }
            try await body(piece)
            offset = range.upperBound
        }
    }
}
