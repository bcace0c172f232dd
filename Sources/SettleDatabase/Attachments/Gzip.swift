internal import CZlib

/// Compresses and expands a stream piece by piece.
///
/// Compression is CouchDB's: zlib at level 8, no name and no time in the header, because the digest depends on these bytes.
package final class Gzip {
    package enum Direction { case compress, expand }

    private var stream = z_stream()
    private let direction: Direction
    /// Whether the end of the compressed stream was reached. Another one may follow, as gzip allows.
    package private(set) var isAtEnd = false
    /// Whether other bytes than gzip follow the end; they are ignored.
    package private(set) var hasRest = false

    package init(_ direction: Direction) throws {
        self.direction = direction
        let size = Int32(MemoryLayout<z_stream>.size)
        let window: Int32 = 16 + 15
        let code =
            switch direction {
            case .compress:
                deflateInit2_(&stream, 8, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
            case .expand: inflateInit2_(&stream, window, ZLIB_VERSION, size)
            }
        if code != Z_OK { throw DatabaseError(.storage, "zlib can't begin (\(code))") }
    }

    deinit {
        switch direction {
        case .compress: deflateEnd(&stream)
        case .expand: inflateEnd(&stream)
        }
    }

    /// Processes the next piece, and passes on the output.
    package func process(
        _ input: UnsafeRawBufferPointer, isLast: Bool, emit: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        // zlib counts in 32 bits.
        var rest = input
        while rest.count > Self.longestPiece {
            try processPiece(UnsafeRawBufferPointer(rebasing: rest[..<Self.longestPiece]), isLast: false, emit: emit)
            rest = UnsafeRawBufferPointer(rebasing: rest[Self.longestPiece...])
        }
        try processPiece(rest, isLast: isLast, emit: emit)
    }

    private static let longestPiece = 1 << 30

    private func processPiece(
        _ input: UnsafeRawBufferPointer, isLast: Bool, emit: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var output = [UInt8](repeating: 0, count: 64 * 1024)
        stream.next_in = UnsafeMutablePointer(
            mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.avail_in = UInt32(input.count)
        if isAtEnd, !input.isEmpty, try !begins(with: input.first) { return }
        repeat {
            let (code, produced) = output.withUnsafeMutableBufferPointer { buffer in
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(buffer.count)
                let code =
                    direction == .compress
                    ? deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH) : inflate(&stream, Z_NO_FLUSH)
                return (code, buffer.count - Int(stream.avail_out))
            }
            guard code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR else {
                throw DatabaseError(.attachmentMissing, "the content of an attachment is not the gzip it should be")
            }
            if produced > 0 {
                try output.withUnsafeBytes { try emit(UnsafeRawBufferPointer(rebasing: $0[..<produced])) }
            }
            if code == Z_STREAM_END {
                isAtEnd = true
                guard stream.avail_in > 0, try begins(with: stream.next_in?.pointee) else { return }
            }
        } while stream.avail_out == 0 || stream.avail_in > 0
    }

    /// Starts another stream after the end of one; false if the bytes are not gzip.
    private func begins(with byte: UInt8?) throws -> Bool {
        guard direction == .expand, !hasRest, byte == 0x1F else {
            hasRest = true
            return false
        }
        let code = inflateReset(&stream)
        if code != Z_OK { throw DatabaseError(.storage, "zlib can't begin again (\(code))") }
        isAtEnd = false
        return true
    }

    /// Whether a type is stored compressed: CouchDB's default list, without regard to the type's parameters.
    package static func isCompressible(_ contentType: String) -> Bool {
        let type = contentType.prefix { $0 != ";" }.lowercased()
        return type.hasPrefix("text/") || compressible.contains(type)
    }

    private static let compressible: Set<String> = [
        "application/javascript", "application/json", "application/xml",
    ]
}

extension Gzip {
    /// The content of compressed bytes.
    ///
    /// - Parameters:
    ///   - bytes: What is to be one or more whole streams of gzip.
    ///   - limit: How many bytes the content may have.
    /// - Returns: The content; `nil` if it is longer.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing` for bytes that are no gzip, or end in the middle.
    package static func expand(_ bytes: [UInt8], limit: Int) throws -> [UInt8]? {
        struct TooLong: Error {}
        let gzip = try Gzip(.expand)
        var expanded: [UInt8] = []
        do {
            try bytes.withUnsafeBytes { buffer in
                try gzip.process(buffer, isLast: true) { piece in
                    guard expanded.count + piece.count <= limit else { throw TooLong() }
                    expanded.append(contentsOf: piece)
                }
            }
        } catch is TooLong { return nil }
        guard gzip.isAtEnd else { throw DatabaseError(.attachmentMissing, "compressed bytes end in the middle") }
        return expanded
    }
}

// MARK: - GzipCheck

/// Validates bytes declared as gzip, piece by piece and in bounded memory, and determines the length of their
/// content.
final class GzipCheck {
    private let gzip: Gzip
    /// The length of the content so far, in bytes.
    private(set) var length: Int64 = 0

    init() throws { gzip = try Gzip(.expand) }

    /// Validates the next piece.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for bytes that are not gzip.
    func take(_ bytes: UnsafeRawBufferPointer) throws {
        do { try gzip.process(bytes, isLast: false) { length += Int64($0.count) } } catch let error as DatabaseError
            where error.code == .attachmentMissing
        { throw Self.isNone }
        if gzip.hasRest { throw Self.isNone }
    }

    /// Checks that the stream was complete.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for bytes that are not a whole gzip stream.
    func finish() throws { if !gzip.isAtEnd { throw Self.isNone } }

    private static var isNone: DatabaseError {
        DatabaseError(
            .invalid,
            """
            the content of an attachment is said to be gzip and is no whole gzip file; send it compressed, or without the \
            encoding
            """)
    }
}
