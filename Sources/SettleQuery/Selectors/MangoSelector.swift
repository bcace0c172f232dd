public import SettleCore

/// A condition on documents in CouchDB's selector language (Mango), parsed once and applied to any number of documents.
///
///     let grown = try MangoSelector(["age": ["$gte": 18], "tags": ["$in": ["swim", "run"]]])
///     grown.matches(["_id": "ada", "age": 36, "tags": ["swim"]])        // true
///
/// Matching is a pure function: the same selector and document give the same result everywhere. Indexes, sorting and
/// limits belong to queries, not to selectors.
///
/// ## The language
///   - `{"a": 1}` tests for equality, `{"a": {"$gt": 1}}` for greater values; several members are an `$and`.
///   - `{"a": {"b": 1}}` and `{"a.b": 1}` test a nested member, `{"tags.0": "x"}` an element; `\.` is a dot that
///     belongs to a name.
/// - Together: `$and`, `$or`, `$nor`, `$not`. Elements: `$elemMatch`, `$allMatch`, `$keyMapMatch`, `$all`, `$size`.
/// - Values: `$lt`, `$lte`, `$eq`, `$ne`, `$gte`, `$gt`, `$in`, `$nin`, `$exists`, `$type`, `$mod`, `$regex`,
///   `$beginsWith`.
///   - Words: `$text`, which only a query with a search index can evaluate; `matches(_:)` never matches it. It stands
///     beside other conditions, or in an `$and`.
///
/// - Important: A missing member matches only `$exists: false`. So `{"a": {"$ne": 1}}` and `{"$not": {"a": 1}}` match
///   only documents that have an `a`.
public struct MangoSelector: Sendable {
    /// The maximum nesting of a selector's arrays and objects.
    package static let maximumDepth = 128

    /// The selector as given.
    public let json: JSONValue
    /// The normalized selector; `nil` for the empty selector, which matches everything.
    let root: SelectorNode?

    /// Parses a selector.
    ///
    /// - Parameter json: An object of conditions; the empty one matches everything.
    /// - Throws: ``SelectorError`` with CouchDB's name and reason for JSON that is not a selector.
    /// - Complexity: O(*n*) in bytes.
    public init(_ json: JSONValue) throws(SelectorError) {
        guard Self.isShallow(json, Self.maximumDepth) else {
            throw SelectorError(.tooDeep, "Selector is nested deeper than \(Self.maximumDepth) levels.")
        }
        guard let members = json.object else {
            throw SelectorError(
                .invalidSelectorJSON, "Selector must be a JSON object, not: \(ErlangText.text(of: json))")
        }
        self.json = json
        root = members.isEmpty ? nil : try SelectorNormalizer.normalize(SelectorParser.parse(json))
    }

    /// Parses a selector that is applied to one document at a time, like that of a filter.
    ///
    /// - Parameter json: An object of conditions, without `$text`.
    /// - Throws: ``SelectorError`` as ``init(_:)`` does, and with code `notSupported` for `$text`.
    package init(filter json: JSONValue) throws(SelectorError) {
        try self.init(json)
        guard searches.isEmpty else { throw SelectorError(.notSupported, "Unsupported operator: $text") }
    }

    /// Creates a part of another selector.
    init(json: JSONValue, root: SelectorNode?) {
        self.json = json
        self.root = root
    }

    /// Whether a document matches.
    ///
    /// - Parameter document: The document with the members that CouchDB returns, so with `_id`, `_rev` and, for a
    ///   tombstone, `_deleted`.
    /// - Returns: `true` if it does; `false` also if CouchDB would fail, as for `$mod` by zero, and for a document that takes more
    ///   work than any real one should, such as a pattern that backtracks over a thousand elements.
    public func matches(_ document: JSONValue) -> Bool {
        matches(document, work: SelectorWork(SelectorWork.document))
    }

    /// Whether a document matches, with steps that other documents may share; `false` when all are spent.
    package func matches(_ document: JSONValue, work: SelectorWork) -> Bool {
        guard let root else { return true }
        // A condition within `$elemMatch` or `$not` may have been cut off without the whole one noticing.
        return ((try? SelectorMatch(work: work).matches(root, document)) ?? false) && !work.isSpent
    }

    /// Whether `_find` returns nothing for this selector: it is an empty `$and`, `$or` or `$nor`.
    ///
    /// As a filter such a selector matches every document. CouchDB behaves differently for the two when it plans a
    /// query.
    package var isVacuous: Bool {
        switch root {
        case .all(let nodes), .any(let nodes): nodes.isEmpty
        default: false
        }
    }

    /// Whether a value's nesting has at most a number of levels; deeper levels are not visited.
    private static func isShallow(_ value: JSONValue, _ levels: Int) -> Bool {
        switch value {
        case .array(let elements): levels > 0 && elements.allSatisfy { isShallow($0, levels - 1) }
        case .object(let members): levels > 0 && members.allSatisfy { isShallow($0.value, levels - 1) }
        default: true
        }
    }
}

extension MangoSelector: Hashable, CustomStringConvertible {
    /// Whether both have the same JSON.
    public static func == (left: MangoSelector, right: MangoSelector) -> Bool { left.json == right.json }

    /// Hashes the JSON.
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// The selector as compact JSON.
    public var description: String { String(decoding: json.utf8, as: UTF8.self) }
}

/// The parts of a selector that a search index evaluates.
extension MangoSelector {
    /// The texts of its `$text`s: a document matches only if all of them find it.
    package var searches: [String] { root.map(Self.searches) ?? [] }

    /// The same without its `$text`s.
    package var withoutSearches: MangoSelector {
        guard !searches.isEmpty else { return self }
        let rest = root.flatMap(Self.rest)
        return MangoSelector(json: rest.map(Self.json) ?? .object(JSONObject()), root: rest)
    }

    private static func searches(_ node: SelectorNode) -> [String] {
        switch node {
        case .all(let nodes): nodes.flatMap(searches)
        case .text(let search): [search.string ?? search.description]
        default: []
        }
    }

    /// What remains of a node; `nil` if it was only `$text`.
    private static func rest(_ node: SelectorNode) -> SelectorNode? {
        switch node {
        case .all(let nodes):
            let left = nodes.compactMap(rest)
            return left.isEmpty && !nodes.isEmpty ? nil : .all(left)
        case .text: return nil
        default: return node
        }
    }
}

// MARK: - Normal

extension MangoSelector {
    /// The selector in CouchDB's normal form, as `_explain` shows it and the definition of an index keeps it.
    ///
    ///     {"age": {"$gt": 1, "$lt": 9}}   →   {"$and": [{"age": {"$gt": 1}}, {"age": {"$lt": 9}}]}
    package var normal: JSONValue { root.map(Self.json) ?? .object(JSONObject()) }

    static func json(_ node: SelectorNode) -> JSONValue {
        switch node {
        case .all(let nodes): ["$and": .array(nodes.map(json))]
        case .any(let nodes): ["$or": .array(nodes.map(json))]
        case .none(let nodes): ["$nor": .array(nodes.map(json))]
        case .not(let node): ["$not": json(node)]
        case .member(let name, let node): .object(JSONObject([(name, json(node))]))
        case .at(let path, let node): .object(JSONObject([(path.spelling, json(node))]))
        case .each(let quantifier, let node): .object(JSONObject([(quantifier.rawValue, json(node))]))
        case .text(let search): ["$default": ["$text": search]]
        case .misplaced(let argument): ["$default": argument]
        case .test(let test): json(test)
        }
    }

    private static func json(_ test: SelectorTest) -> JSONValue {
        switch test {
        case .compare(let comparison, let value): .object(JSONObject([(comparison.rawValue, value)]))
        case .contained(let values, isIn: true): ["$in": .array(values)]
        case .contained(let values, isIn: false): ["$nin": .array(values)]
        case .exists(let flag): ["$exists": .bool(flag)]
        case .type(let name): ["$type": .string(name)]
        case .remainder(let divisor, let rest): ["$mod": [.number(JSONNumber(divisor)), .number(rest)]]
        case .pattern(let pattern): ["$regex": .string(pattern.text)]
        case .contains(let values): ["$all": .array(values)]
        case .size(let size): ["$size": .number(JSONNumber(size ?? .max))]
        case .prefix(let prefix): ["$beginsWith": .string(prefix)]
        }
    }
}

// MARK: - Planning

/// Support for planning queries.
extension MangoSelector {
    /// The conditions that all have to hold and that an index can narrow, in their order: those of the selector itself
    /// and of its `$and`s.
    package var conditions: [SelectorCondition] { root.map(Self.conditions) ?? [] }

    /// Whether the selector consists only of its ``conditions``.
    package var isConjunction: Bool { root.map(Self.isConjunction) ?? true }

    /// The paths it tests, each once, in byte order.
    package var fields: [String] {
        let sorted = (root.map(Self.fields) ?? []).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return sorted.enumerated().filter { index, path in
            index == 0 || !sorted[index - 1].utf8.elementsEqual(path.utf8)
        }.map(\.element)
    }

    /// Whether it has regular expressions.
    package var hasPatterns: Bool { root.map(Self.hasPatterns) ?? false }

    /// Whether it matches only documents that have all of these members.
    ///
    /// An empty `$or` requires nothing. CouchDB treats it as requiring every member, and so omits documents if it uses
    /// an index.
    package func requires(_ paths: some Sequence<String>) -> Bool {
        var missing = Set(paths.map { Array($0.utf8) })
        if let root, !missing.isEmpty { missing.subtract(Self.required(by: root)) }
        return missing.isEmpty
    }

    /// Whether a member has the same value in all matching documents.
    package func isConstant(_ path: String) -> Bool {
        conditions.contains { $0.kind == .equal && $0.path.utf8.elementsEqual(path.utf8) }
    }

    private static func conditions(_ node: SelectorNode) -> [SelectorCondition] {
        switch node {
        case .all(let nodes): nodes.flatMap(conditions)
        case .at(let path, .test(let test)): SelectorCondition(path, test).map { [$0] } ?? []
        default: []
        }
    }

    private static func isConjunction(_ node: SelectorNode) -> Bool {
        switch node {
        case .all(let nodes): nodes.allSatisfy(isConjunction)
        case .at(let path, .test(let test)): SelectorCondition(path, test) != nil
        default: false
        }
    }

    private static func hasPatterns(_ node: SelectorNode) -> Bool {
        switch node {
        case .all(let nodes), .any(let nodes), .none(let nodes): nodes.contains(where: hasPatterns)
        case .not(let node), .at(_, let node), .each(_, let node), .member(_, let node): hasPatterns(node)
        case .test(.pattern): true
        case .test, .text, .misplaced: false
        }
    }

    private static func fields(_ node: SelectorNode) -> [String] {
        switch node {
        case .all(let nodes), .any(let nodes), .none(let nodes): nodes.flatMap(fields)
        case .not(let node): fields(node)
        case .at(let path, _): [path.spelling]
        // A condition without a path applies to the whole document.
        case .member, .each, .test: [""]
        case .text, .misplaced: []
        }
    }

    private static func required(by node: SelectorNode) -> Set<[UInt8]> {
        switch node {
        case .all(let nodes): return nodes.reduce(into: []) { $0.formUnion(required(by: $1)) }
        case .any(let nodes):
            guard let first = nodes.first else { return [] }
            return nodes.dropFirst().reduce(required(by: first)) { $0.intersection(required(by: $1)) }
        case .at(_, .test(.exists(false))): return []
        case .at(let path, _): return [Array(path.spelling.utf8)]
        default: return []
        }
    }
}

// MARK: - SelectorCondition

/// A condition on one member that narrows the range of an index.
package struct SelectorCondition: Sendable {
    /// How the member compares to the argument.
    package enum Kind: Sendable {
        /// `$lt`
        case less
        /// `$lte`
        case lessOrEqual
        /// `$eq`
        case equal
        /// `$gte`
        case greaterOrEqual
        /// `$gt`
        case greater
        /// `$beginsWith`
        case prefix
        /// `$exists`, which narrows nothing.
        case exists
    }

    /// The member's path as written.
    package let path: String
    /// How it compares to the argument.
    package let kind: Kind
    /// The argument.
    package let argument: JSONValue

    init?(_ path: SelectorPath, _ test: SelectorTest) {
        self.path = path.spelling
        switch test {
        case .compare(.notEqual, _), .contained, .type, .remainder, .pattern, .contains, .size: return nil
        case .compare(.less, let value): (kind, argument) = (.less, value)
        case .compare(.lessOrEqual, let value): (kind, argument) = (.lessOrEqual, value)
        case .compare(.equal, let value): (kind, argument) = (.equal, value)
        case .compare(.greaterOrEqual, let value): (kind, argument) = (.greaterOrEqual, value)
        case .compare(.greater, let value): (kind, argument) = (.greater, value)
        case .prefix(let prefix): (kind, argument) = (.prefix, .string(prefix))
        case .exists(let flag): (kind, argument) = (.exists, .bool(flag))
        }
    }
}
