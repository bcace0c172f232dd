import RevisionTree
public import SettleDatabase

/// A question about documents: which, in which order, how many, and what of them.
///
///     let grown = Query<Person>().where { $0.age >= 18 && $0.city == "Prague" }.sorted(by: "age").prefix(10)
///     for row in try database.find(grown).rows { print(row.id, row.value.name) }
///
/// A query is a value; each method returns another one. It is answered from an index where one suits, as CouchDB chooses
/// (see `Database.createIndex(on:name:designDocument:partialFilter:)` and `Database.explain(_:)`), and by looking at all
/// documents where none does. Only an order has to be served by an index. What is found is the same with and without one.
///
/// `Query<JSON>` finds documents as they are. Design documents are never found.
///
/// ## Topics
/// ### Conditions
/// - ``QueryField``
/// - ``Queryable``
public struct Query<Model: Decodable & Sendable>: Sendable {
    private var conditions: [QueryCondition] = []
    private var sort: [SortField] = []
    private var skipped = 0
    private var limit = Int.max
    private var fields: [String] = []
    private var bookmark: String?
    private var useIndex: [String] = []
    private var allowsFallback = true
    private var isUpdated = true
    private var hasConflicts = false

    /// Asks for all documents.
    public init() {}

    /// Asks for the documents that a selector matches.
    public init(_ selector: Selector) { conditions = [QueryCondition(selector)] }

    /// Asks for the documents that a condition matches, and the ones before too.
    public func `where`(_ condition: (QueryFields<Model>) -> QueryCondition) -> Query {
        changed { $0.conditions.append(condition(QueryFields())) }
    }

    /// The documents that have these members, in their order; instead of the order before.
    ///
    /// An index has to serve it: one that begins with these members, or with others of which each has one value by the
    /// conditions, and whose other members the conditions ask for. All fields have one direction.
    public func sorted(by fields: SortField...) -> Query { changed { $0.sort = fields } }

    /// Returns at most `count` results.
    public func prefix(_ count: Int) -> Query { changed { $0.limit = max(count, 0) } }

    /// Without the first ones.
    public func dropFirst(_ count: Int) -> Query { changed { $0.skipped = max(count, 0) } }

    /// Only these members of each document, by their paths. An index that has them all answers without reading documents.
    public func selecting(_ fields: String...) -> Query { changed { $0.fields = fields } }

    /// Those behind a bookmark of an earlier answer to the same query.
    public func after(_ bookmark: String?) -> Query { changed { $0.bookmark = bookmark } }

    /// Answered by an index of one's choice, which may be a partial one.
    ///
    /// - Parameters:
    ///   - designDocument: The design document's name.
    ///   - name: The index's name; any of the design document unless given.
    ///   - isRequired: Whether it is a failure when it can't be used; otherwise another one is.
    /// - Returns: The query.
    public func using(_ designDocument: String, name: String? = nil, isRequired: Bool = false) -> Query {
        changed {
            $0.useIndex = [designDocument] + (name.map { [$0] } ?? [])
            $0.allowsFallback = !isRequired
        }
    }

    /// Answered from an index as it is, without what was written since it was last asked.
    public func withoutUpdating() -> Query { changed { $0.isUpdated = false } }

    /// With `_conflicts` in documents that have some, for conditions and where it is asked for by
    /// ``selecting(_:)``.
    public func withConflicts() -> Query { changed { $0.hasConflicts = true } }

    private func changed(_ change: (inout Query) -> Void) -> Query {
        var query = self
        change(&query)
        return query
    }

    /// The selector of all its conditions.
    ///
    /// - Throws: ``SelectorError`` for JSON that is not a selector; ``QueryError`` with code `unknownField`; `EncodingError` for a value
    ///   that JSON can't hold.
    public func selector() throws -> Selector {
        let all = try conditions.map { try $0.selector.get() }
        return try Selector(all.count > 1 ? ["$and": .array(all)] : all.first ?? .object(JSONObject()))
    }

    /// Whether documents are shown whole.
    var isWhole: Bool { fields.isEmpty }

    func options() throws -> FindOptions {
        guard Set(sort.map(\.isDescending)).count < 2 else { throw IndexDefinition.mixed }
        var options = FindOptions(try selector())
        options.sort = sort
        options.limit = limit
        options.skip = skipped
        options.fields = fields
        options.bookmark = try bookmark.map { try FindBookmark($0) }
        options.useIndex = useIndex
        options.allowsFallback = allowsFallback
        options.isUpdated = isUpdated
        options.hasConflicts = hasConflicts
        return options
    }
}
