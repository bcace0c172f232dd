package import SettleCore

/// Parses a plain expression into a selector.
///
///     age > 30 && (name = "Ann" || city in ["Prague", "Brno"])
///
///     either    = both { "||" both }           also: or
///     both      = one { "&&" one }             also: and
///     one       = "!" one | "(" either ")" | condition         also: not
///     condition = path ("=" | "==" | "!=" | "<" | "<=" | ">" | ">=") value
///               | path ["not"] ("in" | "contains" | "begins" | "matches") value
///               | path ["not"] "exists" | path "missing"
///
/// Keywords may be written in any case.
package struct ConditionParser {
    private var scanner: ConditionScanner
    private var token: ConditionScanner.Token?
    private var depth = 0

    private static let deepest = 100
    private static let operators = [
        "=": "$eq", "!=": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte", "in": "$in",
        "begins": "$beginsWith", "matches": "$regex", "contains": "$elemMatch",
    ]

    /// Parses a condition.
    ///
    /// - Throws: ``ConditionError``, which names the position.
    package static func selector(_ text: String) throws -> JSONValue {
        var parser = ConditionParser(scanner: ConditionScanner(text))
        try parser.advance()
        let selector = try parser.either()
        guard parser.token == nil else { throw parser.failure("&& or || is missing") }
        return selector
    }

    private mutating func advance() throws { token = try scanner.next() }

    private func failure(_ message: String) -> ConditionError { scanner.failure(message) }

    private mutating func either() throws -> JSONValue {
        try list("$or", of: ["||", "or"]) { try $0.both() }
    }

    private mutating func both() throws -> JSONValue {
        try list("$and", of: ["&&", "and"]) { try $0.one() }
    }

    private mutating func list(
        _ name: String, of separators: [String], _ element: (inout ConditionParser) throws -> JSONValue
    ) throws -> JSONValue {
        var elements = [try element(&self)]
        while let keyword = token?.keyword, separators.contains(keyword) {
            try advance()
            elements.append(try element(&self))
        }
        return elements.count == 1 ? elements[0] : .object(JSONObject([(name, .array(elements))]))
    }

    private mutating func one() throws -> JSONValue {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw failure("it is nested too deeply") }
        switch token {
        case _ where ["!", "not"].contains(token?.keyword):
            try advance()
            return ["$not": try one()]
        case .symbol("("):
            try advance()
            let inner = try either()
            guard token == .symbol(")") else { throw failure("a ) is missing") }
            try advance()
            return inner
        case .word(let path):
            try advance()
            return try condition(path)
        default: throw failure("a condition begins with the path of a member, such as age or address.city")
        }
    }

    private mutating func condition(_ path: String) throws -> JSONValue {
        let isNegated = token?.keyword == "not"
        if isNegated { try advance() }
        let condition = try plainCondition(path, isNegated: isNegated)
        return isNegated ? ["$not": condition] : condition
    }

    private mutating func plainCondition(_ path: String, isNegated: Bool) throws -> JSONValue {
        let sign = token?.keyword ?? ""
        if sign == "exists" || sign == "missing" && !isNegated {
            try advance()
            return Self.condition(path, "$exists", .bool(sign == "exists"))
        }
        guard let name = Self.operators[sign], !isNegated || sign.first?.isLetter == true else {
            let signs = isNegated ? "" : "= == != < <= > >= "
            throw failure(
                "after \(path)\(isNegated ? " not" : "") must follow one of "
                    + signs + "in contains begins matches exists\(isNegated ? "" : " missing")")
        }
        try advance()
        let value = try value(after: sign)
        return sign == "contains" ? Self.containing(path, value) : Self.condition(path, name, value)
    }

    private mutating func value(after sign: String) throws -> JSONValue {
        let value: JSONValue
        switch token {
        case .value(let given): value = given
        case .word(let word):
            switch word.lowercased() {
            case "true": value = true
            case "false": value = false
            case "null": value = .null
            default: throw failure("a text must be quoted, \"\(word)\"")
            }
        default: throw failure("a value is missing after \(sign)")
        }
        switch sign {
        case "in" where value.array == nil: throw failure("an array must follow in, such as [1, 2]")
        case "begins" where value.string == nil, "matches" where value.string == nil:
            throw failure("a quoted text must follow \(sign)")
        default: break
        }
        try advance()
        return value
    }

    /// The condition that a list has an element, or that a text has a part.
    private static func containing(_ path: String, _ value: JSONValue) -> JSONValue {
        let inList = condition(path, "$elemMatch", ["$eq": value])
        guard let text = value.string else { return inList }
        let pattern = text.map { "\\^$.|?*+()[]{}".contains($0) ? "\\\($0)" : String($0) }.joined()
        return ["$or": [inList, condition(path, "$regex", .string(pattern))]]
    }

    private static func condition(_ path: String, _ name: String, _ value: JSONValue) -> JSONValue {
        .object(JSONObject([(path, .object(JSONObject([(name, value)])))]))
    }
}
