internal import Settle

/// Parses a plain expression into a selector.
///
///     age > 30 && (name = "Ann" || city in ["Prague", "Brno"])
///
///     either    = both { "||" both }           also: or
///     both      = one { "&&" one }             also: and
///     one       = "!" one | "(" either ")" | condition
///     condition = path ("=" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "begins" | "matches") value
///               | path ("exists" | "missing")
struct ConditionParser {
    private var scanner: ConditionScanner
    private var token: ConditionScanner.Token?
    private var depth = 0

    private static let deepest = 100
    private static let operators = [
        "=": "$eq", "!=": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte", "in": "$in",
        "begins": "$beginsWith", "matches": "$regex",
    ]

    /// Parses a condition.
    ///
    /// - Throws: ``CommandError`` with status `usage`, which names the position of the error.
    static func selector(_ text: String) throws -> JSON {
        var parser = ConditionParser(scanner: ConditionScanner(text))
        try parser.advance()
        let selector = try parser.either()
        guard parser.token == nil else { throw parser.failure("&& or || is missing") }
        return selector
    }

    private mutating func advance() throws { token = try scanner.next() }

    private func failure(_ message: String) -> CommandError { scanner.failure(message) }

    private mutating func either() throws -> JSON {
        try list("$or", of: [.symbol("||"), .word("or")]) { try $0.both() }
    }

    private mutating func both() throws -> JSON {
        try list("$and", of: [.symbol("&&"), .word("and")]) { try $0.one() }
    }

    private mutating func list(
        _ name: String, of separators: [ConditionScanner.Token], _ element: (inout ConditionParser) throws -> JSON
    ) throws -> JSON {
        var elements = [try element(&self)]
        while let token, separators.contains(token) {
            try advance()
            elements.append(try element(&self))
        }
        return elements.count == 1 ? elements[0] : .object(JSONObject([(name, .array(elements))]))
    }

    private mutating func one() throws -> JSON {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw failure("it is nested too deeply") }
        switch token {
        case .symbol("!"), .word("not"):
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

    private mutating func condition(_ path: String) throws -> JSON {
        let sign: String
        switch token {
        case .word("exists"), .word("missing"):
            let exists = token == .word("exists")
            try advance()
            return Self.condition(path, "$exists", .bool(exists))
        case .symbol(let text), .word(let text): sign = text
        default: sign = ""
        }
        guard let name = Self.operators[sign] else {
            throw failure(
                "after \(path) must follow one of = != < <= > >= in begins matches exists missing")
        }
        try advance()
        return Self.condition(path, name, try value(behind: sign))
    }

    private mutating func value(behind sign: String) throws -> JSON {
        let value: JSON
        switch token {
        case .value(let given): value = given
        case .word("true"): value = true
        case .word("false"): value = false
        case .word("null"): value = .null
        case .word(let word): throw failure("a text must be quoted, \"\(word)\"")
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

    private static func condition(_ path: String, _ name: String, _ value: JSON) -> JSON {
        .object(JSONObject([(path, .object(JSONObject([(name, value)])))]))
    }
}
