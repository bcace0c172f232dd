/// Why bytes are not the JSON they should be, and where.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case syntax, unexpectedEnd, invalidUTF8, loneSurrogate, numberOutOfRange, tooDeep, notAnObject
            case reservedMember, typeMismatch
        }
        private let kind: Kind

        /// A byte that RFC 8259 does not allow where it stands.
        public static let syntax = Code(kind: .syntax)
        /// The text ends inside a value.
        public static let unexpectedEnd = Code(kind: .unexpectedEnd)
        /// A string has bytes that are not UTF-8.
        public static let invalidUTF8 = Code(kind: .invalidUTF8)
        /// An escape names half of a surrogate pair.
        public static let loneSurrogate = Code(kind: .loneSurrogate)
        /// A number is past what a 64-bit float holds, or an integer has more than 65,536 digits.
        public static let numberOutOfRange = Code(kind: .numberOutOfRange)
        /// Arrays and objects are nested deeper than the limit.
        public static let tooDeep = Code(kind: .tooDeep)
        /// The text is a value of another kind where an object is needed.
        public static let notAnObject = Code(kind: .notAnObject)
        /// A top-level member starts with an underscore and is not one a document may have (SEMANTICS 89).
        public static let reservedMember = Code(kind: .reservedMember)
        /// A value is not of the type that was asked for.
        public static let typeMismatch = Code(kind: .typeMismatch)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What is wrong, in words.
    public let message: String
    /// Where, in bytes from the start.
    public let offset: Int
    /// The line, from 1.
    public let line: Int
    /// The column in bytes, from 1.
    public let column: Int

    /// Makes an error about a place in a text, and counts its lines.
    package init(_ code: Code, _ message: String, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.code = code
        self.message = message
        self.offset = offset
        let before = text.prefix(offset)
        line = before.count { $0 == UInt8(ascii: "\n") } + 1
        column = offset - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) + 1
    }

    /// Makes an error about a value that has no place in a text.
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
