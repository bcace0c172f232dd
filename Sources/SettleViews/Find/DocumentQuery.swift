import SettleCore
internal import SettleDatabase
public import SettleQuery

/// A query for documents: conditions, order, number of results, and members to return.
///
///     let grown = DocumentQuery<Person>().where { $0.age >= 18 && $0.city == "Prague" }.sorted(by: "age").prefix(10)
///     for row in try database.find(grown).rows { print(row.id, row.value.name) }
///
/// A query is a value; each method returns a new one. An index is chosen by CouchDB's rules (see
/// `Database.createIndex(on:name:designDocument:partialFilter:)` and `Database.explain(_:)`); if none fits, all
/// documents are scanned. If no index has the order, a limited number of documents is sorted in memory.
///
/// Without a limit, a query finds the same documents with and without an index. Only the order of documents with equal
/// values depends on the index, and so does the choice among them if there is a limit.
///
/// `DocumentQuery<JSONValue>` returns documents as JSON. Design documents are never found. A database may contain
/// documents of many kinds: a model that names its type (``DocumentModel/documentType``) finds only documents of
/// that type. A document that does not fit the model does not end the query, but is listed in
/// ``QueryResult/misfits``.
///
/// ## Topics
/// ### Conditions
/// - ``QueryField``
/// - ``Queryable``
public struct DocumentQuery<Model: Decodable & Sendable>: Sendable {
    private var conditions: [QueryCondition] = []
    private var sort: Result<[SortField], QueryError> = .success([])
    private var sortLimit = 10_000
    private var skipped = 0
    private var limit = Int.max
    private var fields: [String] = []
    private var bookmark: String?
    private var useIndex: [String] = []
    private var allowsFallback = true
    private var isUpdated = true
    private var hasConflicts = false

    /// Creates a query for all documents.
    public init() {}

    /// Creates a query for the documents that a selector matches.
    public init(_ selector: MangoSelector) { conditions = [QueryCondition(selector)] }

    /// Adds a condition to the earlier ones.
    public func `where`(_ condition: (QueryFields<Model>) -> some QueryPredicate) -> DocumentQuery {
        changed { $0.conditions.append(condition(QueryFields()).condition) }
    }

    /// Sorts by these members, in their order, and replaces an earlier order. A document without one of the members is
    /// not found.
    ///
    /// Documents with equal values come in the order of the index that answers the query: by its other members, then
    /// by the bytes of their ids. Documents that are sorted in memory come by the bytes of their ids. In a descending
    /// order these are descending too. An order by members that tell all documents apart is the same with every index.
    ///
    /// An index has this order if it begins with these members, or with members that the conditions fix to one
    /// value, and if the conditions require its other members. Without such an index all matching documents are
    /// read and sorted in memory, and ``QueryResult/warnings`` names the index to create. That works up to a number
    /// of documents; beyond it the query throws ``QueryError`` with code `noUsableIndex`. Only as many documents
    /// are kept as ``prefix(_:)`` and ``dropFirst(_:)`` need, so the first 100 of a million documents can be sorted
    /// this way.
    ///
    /// By `_id` alone, the order depends on the conditions. With a condition on `_id`, the documents are read in the
    /// order of their ids' bytes. Without one they are sorted in memory, in the order of strings (Unicode's root
    /// collation), and only up to `limit`.
    ///
    /// - Parameters:
    ///   - fields: The members, all with one direction.
    ///   - limit: The maximum number of documents to sort without an index, 10,000 by default; 0 always requires an index.
    /// - Returns: The query.
    public func sorted(by fields: [SortField], withoutIndexUpTo limit: Int = 10_000) -> DocumentQuery {
        changed { ($0.sort, $0.sortLimit) = (.success(fields), limit) }
    }

    /// Sorts by these members, see ``sorted(by:withoutIndexUpTo:)-([SortField],_)``.
    public func sorted(by fields: SortField..., withoutIndexUpTo limit: Int = 10_000) -> DocumentQuery {
        sorted(by: fields, withoutIndexUpTo: limit)
    }

    /// Sorts by the fields of these properties, see ``sorted(by:withoutIndexUpTo:)-([SortField],_)``.
    ///
    ///     DocumentQuery<Order>().sorted(by: [\.customer?.name, \.placed], .descending)
    ///
    /// A property whose field is unknown (``Queryable``) makes the query throw ``QueryError`` with code
    /// `unknownField`.
    ///
    /// - Parameters:
    ///   - properties: The properties.
    ///   - direction: The direction of all of them.
    ///   - limit: The maximum number of documents to sort without an index, 10,000 by default; 0 always requires an index.
    /// - Returns: The query.
    public func sorted(
        by properties: [PartialKeyPath<Model>], _ direction: SortField.Direction = .ascending,
        withoutIndexUpTo limit: Int = 10_000
    ) -> DocumentQuery {
        let fields = Result { () throws(QueryError) in
            try properties.map { property throws(QueryError) in
                SortField(path: try ModelNames.path(of: property).get(), isDescending: direction == .descending)
            }
        }
        return changed { ($0.sort, $0.sortLimit) = (fields, limit) }
    }

    /// Sorts by the field of a property, see ``sorted(by:withoutIndexUpTo:)-([SortField],_)``.
    ///
    ///     DocumentQuery<Person>().sorted(by: \.name, .descending)
    public func sorted(
        by property: PartialKeyPath<Model>, _ direction: SortField.Direction = .ascending,
        withoutIndexUpTo limit: Int = 10_000
    ) -> DocumentQuery {
        sorted(by: [property], direction, withoutIndexUpTo: limit)
    }

    /// Sorts by the fields of these properties, see ``sorted(by:withoutIndexUpTo:)-([SortField],_)``.
    ///
    ///     DocumentQuery<Person>().sorted(by: \.age, \.name)
    public func sorted(
        by first: PartialKeyPath<Model>, _ second: PartialKeyPath<Model>, _ others: PartialKeyPath<Model>...,
        withoutIndexUpTo limit: Int = 10_000
    ) -> DocumentQuery {
        sorted(by: [first, second] + others, withoutIndexUpTo: limit)
    }

    /// Returns at most `count` results.
    public func prefix(_ count: Int) -> DocumentQuery { changed { $0.limit = max(count, 0) } }

    /// Skips the first `count` results.
    public func dropFirst(_ count: Int) -> DocumentQuery { changed { $0.skipped = max(count, 0) } }

    /// Returns only these members of each document, by their paths. An index that contains all of them answers
    /// without reading documents.
    public func selecting(_ fields: String...) -> DocumentQuery { changed { $0.fields = fields } }

    /// Continues after a bookmark of an earlier result of the same query.
    ///
    /// A bookmark is a position in the index that answered that query, or in the order of the documents that were
    /// sorted in memory. If another index answers this query, because an index was created or removed meanwhile, the
    /// position has another meaning, and documents may be missing or come again. ``using(_:name:isRequired:)`` with a
    /// name and `isRequired` keeps a query to one index, and throws ``QueryError`` when that is gone.
    public func after(_ bookmark: String?) -> DocumentQuery { changed { $0.bookmark = bookmark } }

    /// Uses a certain index, which may be a partial one.
    ///
    /// - Parameters:
    ///   - designDocument: The design document's name.
    ///   - name: The index's name; by default any index of the design document.
    ///   - isRequired: Whether it is an error if the index is not usable; otherwise another one is used.
    /// - Returns: The query.
    public func using(_ designDocument: String, name: String? = nil, isRequired: Bool = false) -> DocumentQuery {
        changed {
            $0.useIndex = [designDocument] + (name.map { [$0] } ?? [])
            $0.allowsFallback = !isRequired
        }
    }

    /// Uses an index without updating it, so changes since its last update are missing.
    public func withoutUpdating() -> DocumentQuery { changed { $0.isUpdated = false } }

    /// Adds `_conflicts` to documents that have some, for conditions and for ``selecting(_:)``.
    public func withConflicts() -> DocumentQuery { changed { $0.hasConflicts = true } }

    private func changed(_ change: (inout DocumentQuery) -> Void) -> DocumentQuery {
        var query = self
        change(&query)
        return query
    }

    /// The selector of all conditions, and of the model's type if it names one (``DocumentModel/documentType``).
    ///
    /// - Throws: ``SelectorError`` for JSON that is not a selector; ``QueryError`` with code `unknownField`;
    ///   `EncodingError` for a value that JSON can't represent.
    public func selector() throws -> MangoSelector {
        let type = DocumentType.of(Model.self).map { JSONValue.object([$0.field: .string($0.value)]) }
        let all = try (type.map { [$0] } ?? []) + conditions.map { try $0.selector.get() }
        return try MangoSelector(all.count > 1 ? ["$and": .array(all)] : all.first ?? .object(JSONObject()))
    }

    /// Whether whole documents are returned.
    var isWhole: Bool { fields.isEmpty }

    func options() throws -> FindOptions {
        let sort = try sort.get()
        guard Set(sort.map(\.isDescending)).count < 2 else { throw IndexDefinition.mixed }
        var options = FindOptions(try selector())
        options.sort = sort
        options.sortLimit = sortLimit > 0 ? sortLimit : nil
        options.limit = limit
        options.skip = skipped
        options.fields = fields
        options.bookmark = try bookmark.map { try FindBookmark($0) }
        options.useIndex = useIndex
        options.allowsFallback = allowsFallback
        options.isUpdated = isUpdated
        options.hasConflicts = hasConflicts
        options.givesHints = true
        return options
    }
}

// MARK: - SortField

/// A member that results are sorted by, or that an index has, with its direction.
///
///     ["year", .descending("price")]
///
/// A string literal is ascending. Paths are as in a selector: `address.city` is a member of a member.
public struct SortField: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The direction of an order.
    public enum Direction: Sendable {
        /// From the least value to the greatest.
        case ascending
        /// From the greatest value to the least.
        case descending
    }

    /// The member's path.
    public let path: String
    /// Whether the order is descending.
    public let isDescending: Bool

    /// Makes an ascending field.
    public static func ascending(_ path: String) -> SortField { SortField(path: path, isDescending: false) }

    /// Makes a descending field.
    public static func descending(_ path: String) -> SortField { SortField(path: path, isDescending: true) }

    init(path: String, isDescending: Bool) {
        self.path = path
        self.isDescending = isDescending
    }

    /// The member's path without the type suffix that CouchDB requires for sorting a text search: `title:string`.
    var untypedPath: String {
        for type in [":string", ":number"] where path.hasSuffix(type) { return String(path.dropLast(type.count)) }
        return path
    }

    /// Makes an ascending field from a path.
    public init(stringLiteral path: String) { self.init(path: path, isDescending: false) }
}
