internal import SettleCore
public import SettleQuery

/// An operand of the conditions of a query: a ``QueryCondition``, or a `Bool` field, which must be `true`.
///
///     DocumentQuery<Task>().where { !$0.done && $0.title.hasPrefix("A") }
public protocol QueryPredicate: Sendable {
    /// The condition that it represents.
    var condition: QueryCondition { get }
}

/// A condition of a query.
///
///     ($0.age > 30 && $0.name.hasPrefix("A")) || !($0["city"] == "Prague")
///
/// A negation matches only documents that have the field: see ``QueryField``.
public struct QueryCondition: QueryPredicate {
    /// The selector, or the error that prevents its creation.
    let selector: Result<JSONValue, any Error>

    init(_ selector: () throws -> JSONValue) { self.selector = Result { try selector() } }

    /// Conditions combined by an operator of selectors.
    package init(_ name: String, _ conditions: [QueryCondition]) {
        self.init { [name: .array(try conditions.map { try $0.selector.get() })] }
    }

    /// The negation of a condition.
    package init(not condition: QueryCondition) { self.init { ["$not": try condition.selector.get()] } }

    /// Creates a condition from a selector in CouchDB's language.
    public init(_ selector: MangoSelector) { self.selector = .success(selector.json) }

    /// The condition itself.
    public var condition: QueryCondition { self }
}

extension QueryField: QueryPredicate where Value == Bool {
    /// Matches documents whose field is `true`.
    public var condition: QueryCondition { isEqual(to: true) }
}

// MARK: - QuerySubject

/// The subject of a condition: a field, the document's id, or a property of a field.
struct QuerySubject: Sendable {
    enum Kind: Sendable {
        /// The value itself.
        case value
        /// The document's id, which is a string whatever its type in the model.
        case documentID
        /// The number of elements of a list.
        case count
        /// A string, ignoring case.
        case lowercased
    }

    /// The path from the document, or from the element if the condition is about elements; empty for the element
    /// itself.
    let path: String
    var kind = Kind.value
    /// The paths of the optional objects that the field is part of. If one is `null`, the field is missing.
    var optionals: [String] = []

    /// The maximum number of elements in a condition on the count, except for `==`.
    static let maximumCount = 1000

    /// A field inside this one.
    func member(_ name: String, isInOptional: Bool = false) -> QuerySubject {
        QuerySubject(
            path: path.isEmpty ? name : "\(path).\(name)",
            optionals: isInOptional && !path.isEmpty ? optionals + [path] : optionals)
    }

    /// The selector of a condition with an operator of selectors.
    ///
    /// - Throws: ``QueryError`` with code `unsupportedCondition`.
    func selector(_ name: String, _ argument: JSONValue) throws -> JSONValue {
        switch kind {
        case .value, .documentID: return at(path, [name: argument])
        case .count: return try ofCount(name, argument)
        case .lowercased: return try ofLowercased(name, argument)
        }
    }

    /// The selector of documents whose string contains `text`, followed by the pattern `end`.
    func occurrence(of text: String, before end: String = "") -> JSONValue {
        let pattern = kind == .lowercased ? TextPattern.ignoringCase(text) : TextPattern.exactly(text)
        return at(path, ["$regex": .string(pattern + end)])
    }

    /// The selector of documents whose list has `text` as an element.
    func element(_ text: String) -> JSONValue {
        let test: JSONValue =
            kind == .lowercased ? ["$regex": .string(Self.wholePattern(ignoringCase: text))] : ["$eq": .string(text)]
        return at(path, ["$elemMatch": test])
    }

    /// The selector of documents in which the field, or an object that contains it, is missing or `null`.
    func nothing() -> JSONValue {
        var cases = [at(path, ["$eq": .null]), at(path, ["$exists": false])]
        cases += optionals.map { at($0, ["$eq": .null]) }
        return ["$or": .array(cases)]
    }

    private func at(_ path: String, _ test: JSONValue) -> JSONValue {
        path.isEmpty ? test : .object(JSONObject([(path, test)]))
    }

    // MARK: - Numbers of elements

    private func ofCount(_ name: String, _ argument: JSONValue) throws -> JSONValue {
        let isList = at(path, ["$type": "array"])
        func isOne(of counts: [Int]) -> JSONValue {
            let sizes = counts.filter { $0 >= 0 }.map { at(path, ["$size": .number(JSONNumber($0))]) }
            return sizes.isEmpty ? at(path, ["$in": []]) : ["$or": .array(sizes)]
        }
        func isNone(of counts: [Int]) -> JSONValue {
            let others = counts.filter { $0 >= 0 }.map {
                ["$not": at(path, ["$size": .number(JSONNumber($0))])] as JSONValue
            }
            return ["$and": .array([isList] + others)]
        }
        func below(_ bound: Int, orEqual isIncluded: Bool = false) throws -> [Int] {
            guard bound <= Self.maximumCount else {
                throw QueryError(
                    .unsupportedCondition, "a number of elements is compared with up to \(Self.maximumCount)")
            }
            return Array(0..<max(isIncluded ? bound + 1 : bound, 0))
        }
        switch (name, argument.int, argument.array) {
        case ("$eq", let count?, _): return isOne(of: [count])
        case ("$ne", let count?, _): return isNone(of: [count])
        case ("$lt", let count?, _): return isOne(of: try below(count))
        case ("$lte", let count?, _): return isOne(of: try below(count, orEqual: true))
        case ("$gte", let count?, _): return isNone(of: try below(count))
        case ("$gt", let count?, _): return isNone(of: try below(count, orEqual: true))
        case ("$in", _, let counts?): return isOne(of: counts.compactMap(\.int))
        default: throw unsupported("a number of elements", name)
        }
    }

    // MARK: - Texts without regard to case

    private func ofLowercased(_ name: String, _ argument: JSONValue) throws -> JSONValue {
        func matching(_ pattern: String) -> JSONValue { at(path, ["$regex": .string(pattern)]) }
        func equal(_ text: String) -> JSONValue { matching(Self.wholePattern(ignoringCase: text)) }
        switch (name, argument) {
        case ("$eq", .string(let text)): return equal(text)
        case ("$ne", .string(let text)): return ["$and": [at(path, ["$type": "string"]), ["$not": equal(text)]]]
        case ("$in", .array(let texts)):
            let each = texts.compactMap(\.string).map(equal)
            return each.isEmpty ? at(path, ["$in": []]) : ["$or": .array(each)]
        case ("$beginsWith", .string(let prefix)): return matching("\\A" + TextPattern.ignoringCase(prefix))
        case ("$regex", .string(let pattern)): return matching("(?i)" + pattern)
        default: throw unsupported("a text without regard to case", name)
        }
    }

    /// A pattern for a string that is equal except for case.
    private static func wholePattern(ignoringCase text: String) -> String {
        "\\A\(TextPattern.ignoringCase(text))\\z"
    }

    private func unsupported(_ subject: String, _ name: String) -> QueryError {
        QueryError(.unsupportedCondition, "\(subject) can't be asked for by \(name)")
    }
}

/// Converts strings to regular expressions over bytes.
enum TextPattern {
    /// A pattern that matches exactly one string.
    static func exactly(_ text: String) -> String { text.unicodeScalars.map(quoted).joined() }

    /// A pattern that matches each string with the same lower-case form.
    static func ignoringCase(_ text: String) -> String {
        text.lowercased().unicodeScalars.map { scalar in
            let properties = scalar.properties
            let candidates = [properties.uppercaseMapping, properties.titlecaseMapping].flatMap(\.unicodeScalars)
            let forms = Set(candidates + (others[scalar] ?? []) + [scalar]).filter {
                $0.properties.lowercaseMapping.unicodeScalars.elementsEqual([scalar])
            }
            guard forms.count > 1 else { return quoted(scalar) }
            return "(?:" + forms.sorted().map(quoted).joined(separator: "|") + ")"
        }.joined()
    }

    /// Letters that are not the upper-case form of their own lower-case form: the signs of Kelvin, Ångström and
    /// Ohm, and ẞ.
    private static let others: [UnicodeScalar: [UnicodeScalar]] = [
        "k": ["\u{212A}"], "å": ["\u{212B}"], "ω": ["\u{2126}"], "ß": ["\u{1E9E}"],
    ]

    private static func quoted(_ scalar: UnicodeScalar) -> String {
        let isPunctuation = scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar)
        return isPunctuation && scalar.value > 0x20 && scalar.value < 0x7F ? "\\\(scalar)" : String(scalar)
    }
}
