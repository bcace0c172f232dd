internal import SettlePlatform

/// The compression and the running checksum of one direction, which last as long as the connection.
///
/// The checksum is the CRC-32 of the uncompressed bytes of all frames so far. Compressed frames are raw deflate,
/// flushed at the end of each frame. A flush ends with the four bytes `00 00 FF FF`, which are not sent.
///
/// Used by one thread at a time.
final class BLIPCodec {
    private let direction: Deflate.Direction
    /// Created for the first compressed frame, because it uses hundreds of kilobytes, and many connections only
    /// wait.
    private var stream: Deflate?
    /// The checksum so far.
    private(set) var checksum: UInt32 = 0

    private static let flushed: [UInt8] = [0, 0, 0xFF, 0xFF]

    init(isWriter: Bool) { direction = isWriter ? .compress : .expand }

    /// Adds uncompressed bytes to the checksum.
    func add(_ bytes: [UInt8]) { checksum = Deflate.crc32(bytes, after: checksum) }

    /// Compresses the bytes of a frame.
    func deflate(_ bytes: [UInt8]) throws(BLIPError) -> [UInt8] {
        var output = try run(bytes, limit: .max)
        guard output.suffix(4).elementsEqual(Self.flushed) else { throw .broken("zlib has not flushed a frame") }
        output.removeLast(4)
        return output
    }

    /// Expands the bytes of a frame.
    ///
    /// - Throws: ``BLIPError`` for bytes that are not in the deflate format, and for more than `limit` bytes.
    func inflate(_ bytes: [UInt8], limit: Int) throws(BLIPError) -> [UInt8] {
        try run(bytes + Self.flushed, limit: limit)
    }

    private func run(_ bytes: [UInt8], limit: Int) throws(BLIPError) -> [UInt8] {
        do {
            let stream = try stream ?? Deflate(direction, .raw, memory: 9)
            self.stream = stream
            var output: [UInt8] = []
            try bytes.withUnsafeBytes { bytes in
                try stream.process(bytes, .sync) { piece in
                    output += piece
                    guard output.count <= limit else {
                        throw BLIPError.broken("a frame expands to more than \(limit) bytes")
                    }
                }
            }
            // A frame must not end the stream.
            guard !stream.isAtEnd else { throw BLIPError.broken("a compressed frame is not in the deflate format") }
            return output
        } catch let error as BLIPError {
            throw error
        } catch Deflate.Failure.start {
            throw .broken("zlib could not begin")
        } catch {
            throw .broken("a compressed frame is not in the deflate format")
        }
    }
}
