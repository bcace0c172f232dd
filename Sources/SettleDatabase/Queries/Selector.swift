public import RevisionTree

/// A question about documents in CouchDB's language of selectors (Mango), read once and asked of any number of them.
///
///     let grown = try Selector(["age": ["$gte": 18], "tags": ["$in": ["swim", "run"]]])
///     grown.matches(["_id": "ada", "age": 36, "tags": ["swim"]])        // true
///
/// Asking is a pure function: the same selector and document give the same answer everywhere. A selector knows no
/// indexes, no sorting and no limits; those belong to a query.
///
/// ## The language
/// - `{"a": 1}` asks for equality, `{"a": {"$gt": 1}}` for more; several members are an `$and`.
/// - `{"a": {"b": 1}}` and `{"a.b": 1}` ask for a member of a member, `{"tags.0": "x"}` for an element; `\.` is a dot
///   that belongs to a name.
/// - Together: `$and`, `$or`, `$nor`, `$not`. Elements: `$elemMatch`, `$allMatch`, `$keyMapMatch`, `$all`, `$size`.
/// - Values: `$lt`, `$lte`, `$eq`, `$ne`, `$gte`, `$gt`, `$in`, `$nin`, `$exists`, `$type`, `$mod`, `$regex`,
///   `$beginsWith`.
/// - Words: `$text`, of which only a query with a search index knows what it finds; `matches(_:)` finds nothing by it. It
///   stands beside other conditions, or in an `$and`.
///
/// - Important: A missing member matches nothing but `$exists: false`. Also `{"a": {"$ne": 1}}` and
///   `{"$not": {"a": 1}}` ask for documents that have an `a`.
public struct Selector: Sendable {
    /// How deep the arrays and objects of a selector may be nested.
    public static let maximumDepth = 128

    /// The selector as it was given.
    public let json: JSON
    /// What it asks in normal form; `nil` for the empty selector, which everything matches.
    let root: SelectorNode?

    /// Reads a selector.
    ///
    /// - Parameter json: An object of conditions; the empty one matches everything.
    /// - Throws: ``SelectorError`` with CouchDB's name and reason for JSON that is not a selector.
    /// - Complexity: O(*n*) in bytes.
    public init(_ json: JSON) throws(SelectorError) {
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

    /// Reads a selector that is asked of one document at a time, as those of filters are.
    ///
    /// - Parameter json: An object of conditions, without `$text`.
    /// - Throws: ``SelectorError`` as ``init(_:)`` does, and with code `notSupported` for `$text`.
    public init(filter json: JSON) throws(SelectorError) {
        try self.init(json)
        guard searches.isEmpty else { throw SelectorError(.notSupported, "Unsupported operator: $text") }
    }

    /// What is left of another selector.
    init(json: JSON, root: SelectorNode?) {
        self.json = json
        self.root = root
    }

    /// Whether a document matches.
    ///
    /// - Parameter document: The document with the members that CouchDB shows, so with `_id`, `_rev` and, for a
    ///   tombstone, `_deleted`.
    /// - Returns: `true` if it does; `false` also where CouchDB would fail, as at `$mod` by zero.
    public func matches(_ document: JSON) -> Bool {
        guard let root else { return true }
        return (try? SelectorMatch().matches(root, document)) ?? false
    }

    /// Whether `_find` answers this selector with nothing at once: it is `$and`, `$or` or `$nor` of nothing.
    ///
    /// As a filter such a selector matches every document. CouchDB knows both, and tells them apart where it plans a
    /// query.
    public var isVacuous: Bool {
        switch root {
        case .all(let nodes), .any(let nodes): nodes.isEmpty
        default: false
        }
    }

    /// Whether a value is nested no deeper than so many levels; it is not looked at below them.
    private static func isShallow(_ value: JSON, _ levels: Int) -> Bool {
        switch value {
        case .array(let elements): levels > 0 && elements.allSatisfy { isShallow($0, levels - 1) }
        case .object(let members): levels > 0 && members.allSatisfy { isShallow($0.value, levels - 1) }
        default: true
        }
    }
}

extension Selector: Hashable, CustomStringConvertible {
    /// Whether both were given as the same JSON.
    public static func == (left: Selector, right: Selector) -> Bool { left.json == right.json }

    /// Hashes the JSON.
    public func hash(into hasher: inout Hasher) { hasher.combine(json) }

    /// The selector as compact JSON.
    public var description: String { String(decoding: json.utf8, as: UTF8.self) }
}
