/// The reason why a text is not the expected JSON, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case syntax, unexpectedEnd, invalidUTF8, loneSurrogate, numberOutOfRange, tooDeep, notAnObject
            case reservedMember, typeMismatch, tooManyValues
        }
        private let kind: Kind

        /// A byte that RFC 8259 does not allow at its position.
        public static let syntax = Code(kind: .syntax)
        /// The text ends inside a value.
        public static let unexpectedEnd = Code(kind: .unexpectedEnd)
        /// A string has bytes that are not UTF-8.
        public static let invalidUTF8 = Code(kind: .invalidUTF8)
        /// An escape is half of a surrogate pair.
        public static let loneSurrogate = Code(kind: .loneSurrogate)
        /// A number exceeds a 64-bit float, or an integer has more than 65,536 digits.
        public static let numberOutOfRange = Code(kind: .numberOutOfRange)
        /// Arrays and objects are nested deeper than the limit.
        public static let tooDeep = Code(kind: .tooDeep)
        /// The text is another kind of value where an object is required.
        public static let notAnObject = Code(kind: .notAnObject)
        /// A top-level member starts with an underscore and is not a reserved member of documents (SEMANTICS 89).
        public static let reservedMember = Code(kind: .reservedMember)
        /// The text has more values, or an array in it more elements, than its reader accepts.
        public static let tooManyValues = Code(kind: .tooManyValues)
        /// A value is not of the requested type.
        public static let typeMismatch = Code(kind: .typeMismatch)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the problem.
    public let message: String
    /// The position, in bytes from the start.
    public let offset: Int
    /// The line, from 1.
    public let line: Int
    /// The column in bytes, from 1.
    public let column: Int

    /// Creates an error at a place in a text, and counts its lines.
    package init(_ code: Code, _ message: String, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.code = code
        self.message = message
        self.offset = offset
        let before = text.prefix(offset)
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        column = offset - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) + 1
    }

    /// Creates an error about a value without a place in a text.
    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
        offset = 0
        line = 1
        column = 1
    }

    /// The message with line, column and byte offset.
    public var description: String { "\(message) at line \(line), column \(column) (byte \(offset))" }
}
