internal import CZlib

/// Compresses or expands a stream of bytes piece by piece, by the system's zlib.
///
///     raw     compressed bytes                          RFC 1951
///     zlib    header, compressed bytes, Adler-32        RFC 1950
///     gzip    header, compressed bytes, CRC-32, length  RFC 1952; one stream may follow another
///
/// The same pieces with the same settings give the same bytes, on which digests of attachments depend.
///
/// One thread at a time may use it.
package final class Deflate {
    package enum Direction: Sendable { case compress, expand }

    package enum Format: Sendable { case raw, zlib, gzip }

    /// The amount of output at the end of a piece.
    package enum Flush: Sendable {
        /// As much as zlib has ready.
        case none
        /// All output for the piece, ending at a byte boundary, so that the other side can expand it.
        case sync
        /// All output, and the end of the stream.
        case finish
    }

    package enum Failure: Error, Sendable {
        /// zlib could not start, probably because of a lack of memory.
        case start(code: Int32)
        /// The bytes are not in the format.
        case malformed
        /// The bytes end before the stream does.
        case cut
    }

    private let direction: Direction
    private let format: Format
    private var stream = z_stream()
    /// Whether the end of the stream was reached.
    package private(set) var isAtEnd = false
    /// Whether bytes that are not a stream follow the end; they are ignored.
    package private(set) var hasRest = false

    private static let room = 64 << 10
    /// zlib's counters have 32 bits.
    private static let longestPiece = 1 << 30

    /// Starts a stream.
    ///
    /// - Parameters:
    ///   - direction: Whether to compress or to expand.
    ///   - format: The format around the compressed bytes.
    ///   - level: The compression level, from 1 to 9.
    ///   - window: The exponent of the window size, 9 to 15.
    ///   - memory: The amount of memory for compression, from 1 to 9.
    /// - Throws: ``Failure/start(code:)``.
    package init(
        _ direction: Direction, _ format: Format, level: Int32 = 6, window: Int32 = 15, memory: Int32 = 8
    ) throws(Failure) {
        (self.direction, self.format) = (direction, format)
        let window =
            switch format {
            case .raw: -window
            case .zlib: window
            case .gzip: window + 16
            }
        let size = Int32(MemoryLayout<z_stream>.size)
        let code =
            switch direction {
            case .compress:
                deflateInit2_(&stream, level, Z_DEFLATED, window, memory, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            case .expand: inflateInit2_(&stream, window, ZLIB_VERSION, size)
            }
        if code != Z_OK { throw .start(code: code) }
    }

    deinit {
        switch direction {
        case .compress: deflateEnd(&stream)
        case .expand: inflateEnd(&stream)
        }
    }

    /// Processes the next piece, and passes on the output, up to 64 KiB at a time.
    ///
    /// - Throws: ``Failure``, and errors of `emit`.
    package func process(
        _ piece: UnsafeRawBufferPointer, _ flush: Flush = .none, emit: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var rest = piece
        while rest.count > Self.longestPiece {
            try processPart(UnsafeRawBufferPointer(rebasing: rest[..<Self.longestPiece]), .none, emit)
            rest = UnsafeRawBufferPointer(rebasing: rest[Self.longestPiece...])
        }
        try processPart(rest, flush, emit)
    }

    private func processPart(
        _ part: UnsafeRawBufferPointer, _ flush: Flush, _ emit: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if isAtEnd, !part.isEmpty, try !beginsAgain(with: part.first) { return }
        stream.next_in = UnsafeMutablePointer(mutating: part.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(part.count)
        // Not an array, which would be filled with zeros each time.
        try withUnsafeTemporaryAllocation(byteCount: Self.room, alignment: 16) { room in
            while true {
                stream.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.avail_out = UInt32(room.count)
                let code = step(flush)
                guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else { throw Failure.malformed }
                let count = room.count - Int(stream.avail_out)
                if count > 0 { try emit(UnsafeRawBufferPointer(rebasing: room[..<count])) }
                if code == Z_STREAM_END {
                    isAtEnd = true
                    guard stream.avail_in > 0, try beginsAgain(with: stream.next_in?.pointee) else { return }
                } else if code == Z_BUF_ERROR || stream.avail_out > 0 && stream.avail_in == 0 {
                    return
                }
            }
        }
    }

    private func step(_ flush: Flush) -> Int32 {
        guard direction == .compress else { return inflate(&stream, Z_NO_FLUSH) }
        return switch flush {
        case .none: deflate(&stream, Z_NO_FLUSH)
        case .sync: deflate(&stream, Z_SYNC_FLUSH)
        case .finish: deflate(&stream, Z_FINISH)
        }
    }

    /// Starts another stream after the end of one; returns false if the bytes are not a stream.
    private func beginsAgain(with byte: UInt8?) throws(Failure) -> Bool {
        guard direction == .expand, format == .gzip, !hasRest, byte == 0x1F else {
            hasRest = true
            return false
        }
        let code = inflateReset(&stream)
        if code != Z_OK { throw .start(code: code) }
        isAtEnd = false
        return true
    }
}

// MARK: - Whole Streams

extension Deflate {
    /// Compresses bytes into a whole stream.
    ///
    /// - Throws: ``Failure/start(code:)``.
    package static func compress(
        _ bytes: [UInt8], _ format: Format, level: Int32 = 6, window: Int32 = 15, memory: Int32 = 8
    ) throws -> [UInt8] {
        let stream = try Deflate(.compress, format, level: level, window: window, memory: memory)
        var compressed: [UInt8] = []
        try bytes.withUnsafeBytes { bytes in
            try stream.process(bytes, .finish) { compressed.append(contentsOf: $0) }
        }
        return compressed
    }

    /// Expands whole streams.
    ///
    /// - Parameters:
    ///   - bytes: The compressed bytes. Bytes after their end are ignored.
    ///   - format: The format around them.
    ///   - limit: The maximum size of the content in bytes.
    /// - Returns: The content; `nil` if it is longer.
    /// - Throws: ``Failure``.
    package static func expand(_ bytes: [UInt8], _ format: Format, limit: Int) throws -> [UInt8]? {
        struct TooLong: Error {}
        let stream = try Deflate(.expand, format)
        var expanded: [UInt8] = []
        do {
            try bytes.withUnsafeBytes { bytes in
                try stream.process(bytes) { piece in
                    guard expanded.count + piece.count <= limit else { throw TooLong() }
                    expanded.append(contentsOf: piece)
                }
            }
        } catch is TooLong { return nil }
        guard stream.isAtEnd else { throw Failure.cut }
        return expanded
    }
}

// MARK: - Checksums

/// The checksums around compressed bytes.
extension Deflate {
    /// The Adler-32 of bytes, which ends a stream of zlib's.
    package static func adler32(_ bytes: [UInt8]) -> UInt32 {
        guard !bytes.isEmpty else { return 1 }
        return bytes.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: adler32_z(1, $0.baseAddress, $0.count)) }
    }

    /// The CRC-32 of bytes, continuing the CRC-32 `sum` of the bytes before them.
    package static func crc32(_ bytes: [UInt8], after sum: UInt32 = 0) -> UInt32 {
        guard !bytes.isEmpty else { return sum }
        return bytes.withUnsafeBufferPointer {
            UInt32(truncatingIfNeeded: crc32_z(UInt(sum), $0.baseAddress, $0.count))
        }
    }
}
