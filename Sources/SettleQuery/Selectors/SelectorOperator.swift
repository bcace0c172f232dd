internal import SettleCore

/// An operator that tests a value or its parts: a row of the table ``all``.
///
///     name       CouchDB's                                                 $gte
///     word       its name in a condition written as text, if it has one    age >= 18
///     parse      checks the argument of a selector
///     test       asks a value
///     normal     the argument as `_explain` shows it, if not as given
///     range      the values it allows, if they are a range of an index     18 and all after it
///     opposite   the operator that holds for a value if this one does not, if there is one
///
/// The parser, the evaluation, the normal form and the planner of selectors use this table, so a new operator is a
/// new row. `$and`, `$or`, `$nor`, `$not` and `$text` have no row: they are the grammar that ``SelectorParser``
/// reads.
struct SelectorOperator: Sendable {
    typealias Failure = SelectorMatch.Failure

    /// The name of an operator in a condition written as text.
    struct Word: Sendable {
        /// The operand after the word.
        enum Operand: Sendable { case nothing, value, list, text }

        let text: String
        let operand: Operand

        /// Whether it is a sign such as `>=`, which needs no blanks around it.
        var isSign: Bool { text.first?.isLetter == false }
    }

    private enum Form: Sendable {
        /// Tests the value itself; `nil` for an argument of another type.
        case value(@Sendable (JSONValue) throws(SelectorError) -> SelectorTest?)
        /// Applies a selector to parts of the value.
        case parts(@Sendable (SelectorNode, JSONValue, SelectorMatch) throws(Failure) -> Bool)
    }

    let name: String
    let word: Word?
    private let form: Form

    /// Creates a row for an operator that tests the value itself.
    ///
    /// - Parameters:
    ///   - name: CouchDB's name.
    ///   - word: The name in a condition written as text.
    ///   - parse: Checks the argument; `nil` for one of another type.
    ///   - test: Tests a value with the argument.
    ///   - normal: The argument in normal form; unchanged by default.
    ///   - range: The allowed values; by default the operator narrows no index.
    ///   - opposite: The opposite operator and its argument; by default a `$not` is kept.
    ///   - isCostly: Whether a test may take many steps.
    init<Argument: Sendable>(
        _ name: String, _ word: Word? = nil,
        parse: @escaping @Sendable (JSONValue) throws(SelectorError) -> Argument?,
        test: @escaping @Sendable (Argument, JSONValue, SelectorMatch) throws(Failure) -> Bool,
        normal: (@Sendable (Argument) -> JSONValue)? = nil,
        range: (@Sendable (Argument) -> SelectorRange)? = nil,
        opposite: (@Sendable (Argument) -> (String, JSONValue))? = nil,
        isCostly: Bool = false
    ) {
        self.name = name
        self.word = word
        form = .value { (json: JSONValue) throws(SelectorError) -> SelectorTest? in
            guard let argument = try parse(json) else { return nil }
            return SelectorTest(
                name: name, argument: normal?(argument) ?? json, range: range?(argument),
                opposite: opposite?(argument), isCostly: isCostly
            ) { (value: JSONValue, match: SelectorMatch) throws(Failure) -> Bool in try test(argument, value, match) }
        }
    }

    /// Creates a row for an operator whose argument is a selector for parts of the value.
    init(
        _ name: String, _ word: Word? = nil,
        parts: @escaping @Sendable (SelectorNode, JSONValue, SelectorMatch) throws(Failure) -> Bool
    ) {
        self.name = name
        self.word = word
        form = .parts(parts)
    }

    /// The word, if it is a sign.
    var sign: String? { word.flatMap { $0.isSign ? $0.text : nil } }

    /// Whether the argument is a selector for parts of the value.
    var isOfParts: Bool {
        if case .parts = form { true } else { false }
    }

    /// The operator with an argument.
    ///
    /// - Throws: ``SelectorError`` for an argument that it does not accept.
    func node(_ argument: JSONValue) throws(SelectorError) -> SelectorNode {
        switch form {
        case .value(let prepare):
            guard let test = try prepare(argument) else { throw .badArgument(name, argument) }
            return .test(test)
        case .parts:
            guard case .object = argument else { throw .badArgument(name, argument) }
            return .each(self, try SelectorParser.parse(argument))
        }
    }

    /// Whether the parts of a value match as required; `false` for an operator that tests the value itself.
    func matches(_ node: SelectorNode, partsOf value: JSONValue, _ match: SelectorMatch) throws(Failure) -> Bool {
        guard case .parts(let matches) = form else { return false }
        return try matches(node, value, match)
    }
}

// MARK: - Table

extension SelectorOperator {
    /// The operators. Those with a word are in the order in which errors list the words.
    static let all: [SelectorOperator] = [comparisons, memberships, elements, texts, properties].flatMap(\.self)

    private static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    /// The operator with a name.
    static func named(_ name: String) -> SelectorOperator? { named[name] }

    /// The operator for a word in a condition written as text.
    static func worded(_ word: String) -> SelectorOperator? { all.first { $0.word?.text == word } }

    /// The operator of a value without an operator.
    static let equal = comparison("$eq", "=", opposite: "$ne", range: { .exactly($0) }, accepts: { $0 == .same })

    private static let comparisons = [
        equal,
        comparison("$ne", "!=", opposite: "$eq", accepts: { $0 != .same }),
        comparison("$lt", "<", opposite: "$gte", range: { .below($0, isIncluded: false) }, accepts: { $0 == .before }),
        comparison("$lte", "<=", opposite: "$gt", range: { .below($0, isIncluded: true) }, accepts: { $0 != .after }),
        comparison("$gt", ">", opposite: "$lte", range: { .above($0, isIncluded: false) }, accepts: { $0 == .after }),
        comparison("$gte", ">=", opposite: "$lt", range: { .above($0, isIncluded: true) }, accepts: { $0 != .before }),
    ]

    private static let memberships = [
        membership("$in", Word(text: "in", operand: .list), opposite: "$nin", isIn: true),
        membership("$nin", opposite: "$in", isIn: false),
    ]

    private static let elements = [
        SelectorOperator("$elemMatch", Word(text: "contains", operand: .value), parts: anyElement),
        SelectorOperator("$allMatch", parts: allElements),
        SelectorOperator("$keyMapMatch", parts: anyName),
        SelectorOperator("$all", parse: { $0.array }, test: hasAll),
        SelectorOperator("$size", parse: size, test: hasSize, normal: { .number(JSONNumber($0)) }),
    ]

    private static let texts = [
        SelectorOperator(
            "$beginsWith", Word(text: "begins", operand: .text), parse: text("$beginsWith"), test: begins,
            range: { .prefix($0) }),
        SelectorOperator(
            "$regex", Word(text: "matches", operand: .text), parse: pattern, test: matchesPattern, isCostly: true),
    ]

    private static let properties = [
        SelectorOperator(
            "$exists", Word(text: "exists", operand: .nothing), parse: { $0.bool }, test: exists,
            range: { $0 ? .existing : .missing }, opposite: { ("$exists", .bool(!$0)) }),
        SelectorOperator("$type", parse: { $0.string }, test: hasType),
        SelectorOperator("$mod", parse: Division.init, test: leavesRest, normal: \.json),
    ]
}

// MARK: - Order

extension SelectorOperator {
    private static func comparison(
        _ name: String, _ sign: String, opposite: String, range: (@Sendable (JSONValue) -> SelectorRange)? = nil,
        accepts: @escaping @Sendable (Collation.Order) -> Bool
    ) -> SelectorOperator {
        SelectorOperator(
            name, Word(text: sign, operand: .value), parse: { $0 },
            test: { argument, value, match in accepts(match.order(value, argument)) },
            range: range, opposite: { (opposite, $0) })
    }

    /// Tests whether the value, or an element of an array, is one of the argument's values, or none of them.
    private static func membership(
        _ name: String, _ word: Word? = nil, opposite: String, isIn: Bool
    ) -> SelectorOperator {
        SelectorOperator(
            name, word, parse: { $0.array },
            test: { (values: [JSONValue], value: JSONValue, match: SelectorMatch) throws(Failure) -> Bool in
                let candidates = value.array ?? [value]
                try match.spend(comparing: values.count, with: candidates.count)
                return isIn == values.contains { one in candidates.contains { match.order($0, one) == .same } }
            },
            opposite: { (opposite, .array($0)) })
    }
}

// MARK: - Arrays and objects

extension SelectorOperator {
    @Sendable private static func anyElement(
        _ node: SelectorNode, _ value: JSONValue, _ match: SelectorMatch
    ) throws(Failure) -> Bool {
        for element in value.array ?? [] where try match.matches(node, element) { return true }
        return false
    }

    @Sendable private static func allElements(
        _ node: SelectorNode, _ value: JSONValue, _ match: SelectorMatch
    ) throws(Failure) -> Bool {
        guard let elements = value.array, !elements.isEmpty else { return false }
        for element in elements where try !match.matches(node, element) { return false }
        return true
    }

    @Sendable private static func anyName(
        _ node: SelectorNode, _ value: JSONValue, _ match: SelectorMatch
    ) throws(Failure) -> Bool {
        for member in value.object ?? [:] where try match.matches(node, .string(member.name)) { return true }
        return false
    }

    /// Whether an array contains all of these elements, or equals the only one.
    @Sendable private static func hasAll(
        _ values: [JSONValue], _ value: JSONValue, _ match: SelectorMatch
    ) throws(Failure) -> Bool {
        guard let elements = value.array else { return false }
        try match.spend(comparing: values.count, with: elements.count)
        guard let first = values.first else { return false }
        if values.count == 1, case .array = first, ErlangOrder.compare(first, value) == .same { return true }
        return values.allSatisfy { value in elements.contains { ErlangOrder.isIdentical($0, value) } }
    }

    /// The number of elements. A number that is too great becomes one that no array has.
    @Sendable private static func size(_ argument: JSONValue) -> Int? {
        guard let number = argument.number, number.isInteger, !number.text.hasPrefix("-") || number.int == 0 else {
            return nil
        }
        return number.int ?? .max
    }

    @Sendable private static func hasSize(_ size: Int, _ value: JSONValue, _: SelectorMatch) -> Bool {
        value.array.map { $0.count == size } ?? false
    }
}

// MARK: - Texts

extension SelectorOperator {
    /// Requires a string; for any other argument CouchDB reports an unknown operator.
    private static func text(_ name: String) -> @Sendable (JSONValue) throws(SelectorError) -> String? {
        { (argument: JSONValue) throws(SelectorError) -> String? in
            guard let text = argument.string else { throw .unknownOperator(name) }
            return text
        }
    }

    /// Whether a string starts with a prefix, with a character boundary after it: `e` is not a prefix of `é` written as
    /// `e` followed by a combining accent.
    @Sendable private static func begins(_ prefix: String, _ value: JSONValue, _: SelectorMatch) -> Bool {
        guard let text = value.string, text.utf8.starts(with: prefix.utf8) else { return false }
        guard let last = prefix.unicodeScalars.last else { return true }
        let start = text.utf8.index(text.startIndex, offsetBy: prefix.utf8.count - String(last).utf8.count)
        return String(text.unicodeScalars[start...]).first?.unicodeScalars.count == 1
    }

    @Sendable private static func pattern(_ argument: JSONValue) throws(SelectorError) -> BytePattern? {
        let name = "$regex"
        guard let text = try Self.text(name)(argument) else { return nil }
        do { return try BytePattern(text) } catch {
            guard case .unsupported(let construct) = error else { return nil }
            let reason = SelectorError.badArgument(name, argument).reason
            throw SelectorError(.badArgument, "\(reason): patterns on this system don't support \(construct)")
        }
    }

    @Sendable private static func matchesPattern(
        _ pattern: BytePattern, _ value: JSONValue, _ match: SelectorMatch
    ) throws(Failure) -> Bool {
        guard let text = value.string else { return false }
        guard match.work.begin() else { throw Failure() }
        let isFound = pattern.occurs(in: text, match.work)
        if match.work.isSpent { throw Failure() }
        return isFound
    }
}

// MARK: - Properties

extension SelectorOperator {
    /// `$exists`: a value that exists passes if the argument is `true`.
    @Sendable private static func exists(_ should: Bool, _: JSONValue, _: SelectorMatch) -> Bool { should }

    @Sendable private static func hasType(_ name: String, _ value: JSONValue, _: SelectorMatch) -> Bool {
        let type =
            switch value {
            case .null: "null"
            case .bool: "boolean"
            case .number: "number"
            case .string: "string"
            case .array: "array"
            case .object: "object"
            }
        return type == name
    }

    /// The argument of `$mod`: an integer leaves this remainder.
    private struct Division: Sendable {
        let divisor: Int
        let rest: JSONNumber

        init?(_ argument: JSONValue) {
            guard let numbers = argument.array, numbers.count == 2, let divisor = numbers[0].int,
                let rest = numbers[1].number, rest.isInteger
            else { return nil }
            (self.divisor, self.rest) = (divisor, rest)
        }

        var json: JSONValue { [.number(JSONNumber(divisor)), .number(rest)] }

        /// The remainder of a division that rounds towards zero, for integers of any size.
        func remainder(of number: JSONNumber) throws(Failure) -> Int {
            guard divisor != 0 else { throw Failure() }
            let modulus = UInt128(divisor.magnitude)
            var rest: UInt128 = 0
            for digit in number.text.utf8 where digit != UInt8(ascii: "-") {
                rest = (rest * 10 + UInt128(digit & 15)) % modulus
            }
            return number.text.hasPrefix("-") ? 0 - Int(rest) : Int(rest)
        }
    }

    @Sendable private static func leavesRest(
        _ division: Division, _ value: JSONValue, _: SelectorMatch
    ) throws(Failure) -> Bool {
        guard let number = value.number, number.isInteger else { return false }
        return try division.remainder(of: number) == division.rest.int
    }
}

// MARK: - SelectorTest

/// An operator with its argument, which tests one value.
final class SelectorTest: Sendable {
    let name: String
    /// The argument in normal form.
    let argument: JSONValue
    /// The allowed values; `nil` if they are not a range of an index.
    let range: SelectorRange?
    /// The operator, with its argument, that holds exactly if this one does not.
    private let opposite: (String, JSONValue)?
    /// Whether it may take many steps.
    let isCostly: Bool
    /// Whether an existing value passes.
    let passes: @Sendable (JSONValue, SelectorMatch) throws(SelectorMatch.Failure) -> Bool

    init(
        name: String, argument: JSONValue, range: SelectorRange?, opposite: (String, JSONValue)?, isCostly: Bool,
        passes: @escaping @Sendable (JSONValue, SelectorMatch) throws(SelectorMatch.Failure) -> Bool
    ) {
        self.name = name
        self.argument = argument
        self.range = range
        self.opposite = opposite
        self.isCostly = isCostly
        self.passes = passes
    }

    /// Whether a missing member passes.
    var acceptsMissing: Bool {
        if case .missing? = range { true } else { false }
    }

    /// The opposite test; `nil` if no operator expresses it.
    ///
    /// - Throws: ``SelectorError`` if the opposite operator does not accept the argument.
    func negated() throws(SelectorError) -> SelectorNode? {
        guard let (name, argument) = opposite else { return nil }
        return try SelectorOperator.named(name)?.node(argument)
    }
}
