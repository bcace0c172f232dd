package import SettleCore

/// Parses a plain expression into a selector.
///
///     age > 30 && (name = "Ann" || city in ["Prague", "Brno"])
///
///     either    = both { "||" both }           also: or
///     both      = one { "&&" one }             also: and
///     one       = "!" one | "(" either ")" | condition         also: not
///     condition = path sign value              such as age > 30
///               | path ["not"] word [value]    such as city not in ["Brno"], or address exists
///               | path "missing"
///
/// A name that is not a word is quoted: `"Unit Price" > 2`, `address."zip code" exists`.
/// The signs and words are those of ``SelectorOperator``. Keywords may be written in any case.
struct ConditionParser {
    private var scanner: ConditionScanner
    private var token: ConditionScanner.Token?
    private var depth = 0

    private static let deepest = 100

    /// Parses a condition.
    ///
    /// - Throws: ``ConditionError``, which names the position.
    static func selector(_ text: String) throws -> JSONValue {
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
        case .value(.string(let name)) where !name.isEmpty:
            try advance()
            return try condition(SelectorPath.escaped(name))
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
        let keyword = token?.keyword ?? ""
        if keyword == "missing", !isNegated {
            try advance()
            return Self.condition(path, "$exists", false)
        }
        guard let row = SelectorOperator.worded(keyword), let word = row.word, !isNegated || !word.isSign else {
            throw failure(
                "after \(path)\(isNegated ? " not" : "") must follow one of "
                    + Self.words(isNegated: isNegated).joined(separator: " "))
        }
        try advance()
        guard word.operand != .nothing else { return Self.condition(path, row.name, true) }
        let value = try value(after: word)
        return row.isOfParts ? Self.containing(path, row, value) : Self.condition(path, row.name, value)
    }

    /// What may follow a path, or a path and `not`.
    private static func words(isNegated: Bool) -> [String] {
        let all = SelectorOperator.all.compactMap(\.word)
        if isNegated { return all.filter { !$0.isSign }.map(\.text) }
        return all.flatMap { $0.text == "=" ? ["=", "=="] : [$0.text] } + ["missing"]
    }

    private mutating func value(after operatorWord: SelectorOperator.Word) throws -> JSONValue {
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
        default: throw failure("a value is missing after \(operatorWord.text)")
        }
        switch operatorWord.operand {
        case .list where value.array == nil:
            throw failure("an array must follow \(operatorWord.text), such as [1, 2]")
        case .text where value.string == nil: throw failure("a quoted text must follow \(operatorWord.text)")
        default: break
        }
        try advance()
        return value
    }

    /// The condition that a list has an element, or that a text has a part.
    private static func containing(_ path: String, _ row: SelectorOperator, _ value: JSONValue) -> JSONValue {
        let inList = condition(path, row.name, ["$eq": value])
        guard let text = value.string else { return inList }
        let pattern = text.map { "\\^$.|?*+()[]{}".contains($0) ? "\\\($0)" : String($0) }.joined()
        return ["$or": [inList, condition(path, "$regex", .string(pattern))]]
    }

    private static func condition(_ path: String, _ name: String, _ value: JSONValue) -> JSONValue {
        .object(JSONObject([(path, .object(JSONObject([(name, value)])))]))
    }
}

extension MangoSelector {
    /// The selector of a condition written as text, such as `age > 30 && city in ["Prague", "Brno"]`.
    ///
    /// - Throws: ``ConditionError``, which names the position.
    package static func json(ofCondition text: String) throws -> JSONValue { try ConditionParser.selector(text) }
}
