internal import CZlib

/// One direction's compression and running checksum, which last as long as the connection.
///
/// The checksum is CRC-32 over the uncompressed bytes of all frames so far. Compressed frames are raw deflate, flushed at the end
/// of each frame; the four bytes `00 00 FF FF` that a flush ends with are left out on the wire.
///
/// Used by one thread at a time.
final class BLIPCodec {
    private var stream = z_stream()
    private let isWriter: Bool
    private var isOpen = false
    private var sum: UInt = 0

    private static let flushed: [UInt8] = [0, 0, 0xFF, 0xFF]

    init(isWriter: Bool) { self.isWriter = isWriter }

    /// Begins with the first compressed frame: a context has hundreds of kilobytes, and many connections only wait.
    private func open() {
        guard !isOpen else { return }
        let size = Int32(MemoryLayout<z_stream>.size)
        let code =
            isWriter
            ? deflateInit2_(&stream, 6, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            : inflateInit2_(&stream, -15, ZLIB_VERSION, size)
        isOpen = code == Z_OK
    }

    deinit {
        guard isOpen else { return }
        if isWriter { deflateEnd(&stream) } else { inflateEnd(&stream) }
    }

    /// The checksum so far.
    var checksum: UInt32 { UInt32(truncatingIfNeeded: sum) }

    /// Adds uncompressed bytes to the checksum.
    func add(_ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { sum = crc32_z(sum, $0.baseAddress, $0.count) }
    }

    /// Compresses the bytes of a frame.
    func deflate(_ bytes: [UInt8]) throws(BLIPError) -> [UInt8] {
        var output = try run(bytes, limit: .max)
        guard output.suffix(4).elementsEqual(Self.flushed) else { throw .broken("zlib has not flushed a frame") }
        output.removeLast(4)
        return output
    }

    /// Expands the bytes of a frame.
    ///
    /// - Throws: ``BLIPError`` for bytes that are no deflate, and for more than `limit` bytes.
    func inflate(_ bytes: [UInt8], limit: Int) throws(BLIPError) -> [UInt8] {
        try run(bytes + Self.flushed, limit: limit)
    }

    private func run(_ bytes: [UInt8], limit: Int) throws(BLIPError) -> [UInt8] {
        open()
        guard isOpen else { throw .broken("zlib could not begin") }
        var output: [UInt8] = []
        var input = bytes
        var failure: BLIPError?
        // Not an array, which would be filled with zeros for each frame.
        withUnsafeTemporaryAllocation(byteCount: 32 * 1024, alignment: 1) { room in
            input.withUnsafeMutableBufferPointer { buffer in
                stream.next_in = buffer.baseAddress
                stream.avail_in = UInt32(buffer.count)
                repeat {
                    stream.next_out = room.bindMemory(to: UInt8.self).baseAddress
                    stream.avail_out = UInt32(room.count)
                    let code = isWriter ? CZlib.deflate(&stream, Z_SYNC_FLUSH) : CZlib.inflate(&stream, Z_SYNC_FLUSH)
                    guard code == Z_OK || code == Z_BUF_ERROR else {
                        failure = .broken("a compressed frame is no deflate")
                        return
                    }
                    output += UnsafeRawBufferPointer(rebasing: room[..<(room.count - Int(stream.avail_out))])
                    guard output.count <= limit else {
                        failure = .broken("a frame expands to more than \(limit) bytes")
                        return
                    }
                } while stream.avail_out == 0
            }
        }
        if let failure { throw failure }
        return output
    }
}
