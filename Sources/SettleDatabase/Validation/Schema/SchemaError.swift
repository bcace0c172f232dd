/// Why a JSON value is not a usable schema.
public struct SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case malformed, unsupported, unresolvedReference, endlessReference, tooDeep }
        private let kind: Kind

        /// A keyword has a value that the draft does not allow.
        public static let malformed = Code(kind: .malformed)
        /// A keyword asserts something this implementation does not check.
        public static let unsupported = Code(kind: .unsupported)
        /// A `$ref` has no target in the schema.
        public static let unresolvedReference = Code(kind: .unresolvedReference)
        /// A `$ref` leads back to itself without going further into the value.
        public static let endlessReference = Code(kind: .endlessReference)
        /// The schema is nested too deeply.
        public static let tooDeep = Code(kind: .tooDeep)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// What kind of failure it is.
    public let code: Code
    /// The position in the schema, as a JSON pointer.
    public let path: String
    /// What is wrong, in human-readable form.
    public let message: String

    init(_ code: Code, _ message: String, at path: String) {
        self.code = code
        self.path = path
        self.message = message
    }

    /// The message with the position.
    public var description: String { "\(message) at \(path.isEmpty ? "the root" : path) of the schema" }
}
