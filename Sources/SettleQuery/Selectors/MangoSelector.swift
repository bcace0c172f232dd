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
///   - Words: `$text`, which only a query with a search index can evaluate; `matches(_:)` never matches it. It is
///     allowed beside other conditions, or in an `$and`.
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
    /// - Returns: `true` if it matches; `false` also if CouchDB would fail, as for `$mod` by zero, and for a
    ///   document that takes more work than any real one should, such as a pattern that backtracks over a thousand
    ///   elements.
    public func matches(_ document: JSONValue) -> Bool {
        matches(document, work: SelectorWork(SelectorWork.document))
    }

    /// Whether a document matches, with steps that other documents may share; `false` if all are spent.
    package func matches(_ document: JSONValue, work: SelectorWork) -> Bool {
        guard let root else { return true }
        // A condition within `$elemMatch` or `$not` may have been cut off unnoticed.
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

    /// Whether a value is nested at most `levels` deep; deeper levels are not visited.
    private static func isShallow(_ value: JSONValue, _ levels: Int) -> Bool {
        switch value {
        case .array(let elements): levels > 0 && elements.allSatisfy { isShallow($0, levels - 1) }
        case .object(let members): levels > 0 && members.allSatisfy { isShallow($0.value, levels - 1) }
        default: true
        }
    }
}

extension MangoSelector: Hashable, CustomStringConvertible {
    /// Whether two selectors have the same JSON.
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

    /// The selector without its `$text` conditions.
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

    /// The rest of a node without `$text`; `nil` if nothing is left.
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
        case .each(let row, let node): .object(JSONObject([(row.name, json(node))]))
        case .text(let search): ["$default": ["$text": search]]
        case .misplaced(let argument): ["$default": argument]
        case .test(let test): .object(JSONObject([(test.name, test.argument)]))
        }
    }
}
