/// Why JSON is not a valid selector, with CouchDB's messages.
///
///     do { _ = try MangoSelector(["age": ["$foo": 1]]) } catch { print(error) }   // invalid_operator: Invalid operator: $foo
public struct SelectorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure, by CouchDB's names; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name that CouchDB returns as `error`.
        public let name: String

        /// The selector is not an object.
        public static let invalidSelectorJSON = Code(name: "invalid_selector_json")
        /// A condition is not applied to a member.
        public static let invalidSelector = Code(name: "invalid_selector")
        /// The operator is unknown, or does not accept such an argument.
        public static let invalidOperator = Code(name: "invalid_operator")
        /// The operator is known but not supported.
        public static let notSupported = Code(name: "not_supported")
        /// The argument of an operator is invalid.
        public static let badArgument = Code(name: "bad_arg")
        /// An operator is used in place of a member's name.
        public static let badField = Code(name: "bad_field")
        /// A path has an empty part.
        public static let invalidFieldName = Code(name: "invalid_field_name")
        /// The name of a member to return is not a string.
        public static let invalidField = Code(name: "invalid_field")
        /// The selector is nested deeper than 128 levels; CouchDB has no such limit.
        public static let tooDeep = Code(name: "too_deep")

        private init(name: String) { self.name = name }

        /// The code's name.
        public var description: String { name }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What is wrong, in the sentence that CouchDB returns as `reason`.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}
