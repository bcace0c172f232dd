internal import SettlePlatform

/// Compresses and expands the contents of attachments piece by piece.
///
/// It compresses as CouchDB does: zlib at level 8, without name and time in the header, because the digest depends
/// on these bytes.
package final class Gzip {
    private let stream: Deflate

    /// Whether the end of the compressed stream was reached. Another stream may follow, as gzip allows.
    package var isAtEnd: Bool { stream.isAtEnd }
    /// Whether bytes that are not gzip follow the end; they are ignored.
    package var hasRest: Bool { stream.hasRest }

    package enum Direction { case compress, expand }

    package init(_ direction: Direction) throws {
        stream = try Self.explained { try Deflate(direction == .compress ? .compress : .expand, .gzip, level: 8) }
    }

    /// Processes the next piece, and passes the output to a closure.
    package func process(
        _ input: UnsafeRawBufferPointer, isLast: Bool, emit: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try Self.explained { try stream.process(input, isLast ? .finish : .none, emit: emit) }
    }

    /// Expands compressed bytes.
    ///
    /// - Parameters:
    ///   - bytes: One or more whole streams of gzip.
    ///   - limit: The maximum size of the content, in bytes.
    /// - Returns: The content; `nil` if it is longer.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing` for bytes that are not gzip, or end in the middle.
    package static func expand(_ bytes: [UInt8], limit: Int) throws -> [UInt8]? {
        try explained { try Deflate.expand(bytes, .gzip, limit: limit) }
    }

    private static func explained<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let failure as Deflate.Failure {
            switch failure {
            case .start(let code): throw DatabaseError(.storage, "zlib can't begin (\(code))")
            case .cut: throw DatabaseError(.attachmentMissing, "compressed bytes end in the middle")
            case .malformed:
                throw DatabaseError(.attachmentMissing, "the content of an attachment is not the gzip it should be")
            }
        }
    }

    /// Whether attachments of a type are stored compressed, by CouchDB's default list. Parameters of the type are
    /// ignored.
    package static func isCompressible(_ contentType: String) -> Bool {
        let type = contentType.prefix { $0 != ";" }.lowercased()
        return type.hasPrefix("text/") || compressible.contains(type)
    }

    private static let compressible: Set<String> = [
        "application/javascript", "application/json", "application/xml",
    ]
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
    func validate(_ bytes: UnsafeRawBufferPointer) throws {
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
