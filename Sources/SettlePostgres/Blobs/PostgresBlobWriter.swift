internal import SettleDatabase

/// Writes one content in chunks. A lost answer fails the upload, which the client begins anew.
final class PostgresBlobWriter: BlobWriter {
    private let blobs: PostgresBlobs
    private let pin: UploadPin
    private var buffer: [UInt8] = []
    private var sent: Int64 = 0
    /// How many chunks go in one transaction.
    private static let chunksAtOnce = 16

    init(_ blobs: PostgresBlobs, _ pin: UploadPin) { (self.blobs, self.pin) = (blobs, pin) }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        buffer.append(contentsOf: bytes)
        if buffer.count >= Self.chunksAtOnce * PostgresBlobs.chunkLength { try send(isLast: false) }
    }

    func finish(as digest: BlobDigest) throws -> FinishedBlob {
        try send(isLast: true)
        return FinishedBlob(place: pin.name, pin: pin)
    }

    /// Sends whole chunks, and the rest if it is the last.
    private func send(isLast: Bool) throws {
        let length = PostgresBlobs.chunkLength
        var start = 0
        while buffer.count - start >= (isLast ? 1 : length) {
            var chunks: [[UInt8]] = []
            while chunks.count < Self.chunksAtOnce, buffer.count - start >= (isLast ? 1 : length) {
                let end = min(start + length, buffer.count)
                chunks.append(Array(buffer[start..<end]))
                start = end
            }
            try blobs.put(chunks, from: sent, of: pin.name)
            sent += Int64(chunks.count)
        }
        buffer.removeFirst(start)
    }
}

/// Reads a content, a chunk at a time.
final class PostgresBlobReader: BlobReader {
    private let blobs: PostgresBlobs
    private let place: [UInt8]
    private var offset: Int64
    private let length: Int64
    private var chunk: (number: Int64, bytes: [UInt8])?

    init(_ blobs: PostgresBlobs, _ place: [UInt8], offset: Int64, length: Int64) {
        (self.blobs, self.place, self.offset, self.length) = (blobs, place, offset, length)
    }

    func read(upTo count: Int) throws -> [UInt8] {
        guard offset < length, count > 0 else { return [] }
        let (number, start) = offset.quotientAndRemainder(dividingBy: Int64(PostgresBlobs.chunkLength))
        if chunk?.number != number {
            guard let bytes = try blobs.chunk(number, of: place) else {
                throw DatabaseError(.attachmentMissing, "a part of the content of an attachment is not there any more")
            }
            chunk = (number, bytes)
        }
        guard let bytes = chunk?.bytes, Int(start) < bytes.count else {
            throw DatabaseError(.attachmentMissing, "a part of the content of an attachment is shorter than it was")
        }
        let piece = Array(bytes[Int(start)..<min(Int(start) + count, bytes.count)])
        offset += Int64(piece.count)
        return piece
    }
}
