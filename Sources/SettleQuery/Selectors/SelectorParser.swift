internal import SettleCore

/// Parses the operators of a selector: checks their arguments and makes implicit ones explicit.
///
///     {"a": 1, "b": {"$gt": 2, "c": 3}}
///
///     →  $and [ a: $eq 1,
///               b: $and [ $gt 2, c: $eq 3 ] ]
///
/// An object with one member is an operator if its name starts with `$`; otherwise it is a condition on a member.
/// An object with several members is an `$and` of them. Anything else, even the empty object, is a value to compare
/// with.
enum SelectorParser {
    /// Parses a selector, whose nesting was checked before.
    ///
    /// - Throws: ``SelectorError`` for the first invalid operator.
    static func parse(_ selector: JSONValue) throws(SelectorError) -> SelectorNode {
        guard case .object(let members) = selector, let first = members.first else {
            return try SelectorOperator.equal.node(selector)
        }
        guard members.count == 1 else { return .all(try parse(members)) }
        return try parse(first)
    }

    private static func parse(_ members: some Sequence<JSONObject.Member>) throws(SelectorError) -> [SelectorNode] {
        var nodes: [SelectorNode] = []
        for member in members { nodes.append(try parse(member)) }
        return nodes
    }

    private static func parse(_ member: JSONObject.Member) throws(SelectorError) -> SelectorNode {
        let (name, argument) = (member.name, member.value)
        guard name.utf8.first == UInt8(ascii: "$") else { return .member(name, try parse(argument)) }
        switch name {
        case "$and": return .all(try list(name, argument))
        case "$or": return .any(try list(name, argument))
        case "$nor": return .none(try list(name, argument))
        case "$not":
            guard case .object = argument else { throw .badArgument(name, argument) }
            return .not(try parse(argument))
        case "$text": return .text(try text(argument))
        case "$default":
            // `_explain` shows `$text` in this form.
            guard argument.object?.names == ["$text"], let search = argument["$text"] else {
                return .misplaced(argument)
            }
            return .text(try text(search))
        case "$where", "$geoWithin", "$geoIntersects", "$near", "$nearSphere":
            throw SelectorError(.notSupported, "Unsupported operator: \(name)")
        default: break
        }
        guard let row = SelectorOperator.named(name) else { throw .unknownOperator(name) }
        return try row.node(argument)
    }

    private static func text(_ argument: JSONValue) throws(SelectorError) -> JSONValue {
        switch argument {
        case .string, .number, .bool: return argument
        default: throw .badArgument("$text", argument)
        }
    }

    private static func list(_ name: String, _ argument: JSONValue) throws(SelectorError) -> [SelectorNode] {
        guard let selectors = argument.array else { throw .badArgument(name, argument) }
        var nodes: [SelectorNode] = []
        for selector in selectors { nodes.append(try parse(selector)) }
        return nodes
    }
}

// MARK: - SelectorError

/// The reason why JSON is not a valid selector, with CouchDB's messages.
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
        /// The operator is unknown, or does not accept this argument.
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

    /// The kind of the failure.
    public let code: Code
    /// The problem, in the sentence that CouchDB returns as `reason`.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The error for an operator's invalid argument.
    static func badArgument(_ name: String, _ argument: JSONValue) -> SelectorError {
        SelectorError(.badArgument, "Bad argument for operator \(name): \(ErlangText.text(of: argument))")
    }

    /// The error for an unknown operator. CouchDB also uses it for `$regex` and `$beginsWith` with an argument that
    /// is not a string.
    static func unknownOperator(_ name: String) -> SelectorError {
        SelectorError(.invalidOperator, "Invalid operator: \(name)")
    }

    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}
