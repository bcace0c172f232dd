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
