import SettleCore
public import SettleDatabase

extension Database {
    /// Finds the documents that match a query.
    ///
    ///     let result = try database.find(Query<Person>().where { $0.age > 30 })
    ///     print(result.values, result.warnings)
    ///
    /// The index is updated first, which takes time proportional to the changes since its last use.
    ///
    /// - Returns: All documents, unless the query has a limit, which takes memory for all of them; see
    ///   ``pages(of:size:)``.
    /// - Throws: ``QueryError`` when no index has the requested order (`noUsableIndex`) or the required index does
    ///   not fit (`invalidIndex`), for text that is not a bookmark (`invalidBookmark`), and `unknownField`;
    ///   ``SelectorError``; `DecodingError` when a document does not fit the model; ``DatabaseError``.
    /// - Complexity: O(log *n* + *k*) for *k* rows in the range of the index that the conditions allow, O(*n*)
    ///   without an index.
    public func find<Model>(_ query: Query<Model>) throws -> QueryResult<Model> {
        var cursor = try FindCursor(query.options(), in: self)
        try cursor.update()
        var rows: [QueryRow<Model>] = []
        while !cursor.isDone {
            try cursor.next(lookingAt: 1000) { found in
                rows.append(try QueryRow(found))
                return true
            }
        }
        var warnings = cursor.plan.warnings
        if cursor.statistics.suggestsIndex { warnings.append(QueryStatistics.suggestion) }
        return QueryResult(
            rows: rows, bookmark: cursor.bookmark?.text, warnings: warnings, statistics: cursor.statistics)
    }

    /// Plans a query without running it: the index, the range that is read, and why other indexes are not used.
    ///
    /// - Throws: As ``find(_:)``, except `noUsableIndex`.
    public func explain<Model>(_ query: Query<Model>) throws -> QueryPlan {
        try FindPlanner(query.options(), indexes: QueryIndexes.all(in: self)).explained()
    }

    /// The documents of a query in pages, in bounded memory.
    ///
    ///     for try await page in database.pages(of: Query<Person>(), size: 100) { show(page) }
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - size: The number of documents per page, except the last one.
    /// - Returns: The pages, each from one snapshot of the database. Documents inserted after the last one during the
    ///   iteration are found; none is missed or returned twice unless it changes its position.
    public func pages<Model>(of query: Query<Model>, size: Int = 100) -> QueryPages<Model> {
        QueryPages(database: self, query: query, size: max(size, 1))
    }

    /// Observes a query as a live query: its current results first, then after each change of them.
    ///
    /// - Returns: An endless sequence of the full results.
    public func observe<Model>(_ query: Query<Model>) -> QueryObservation<Model> {
        QueryObservation(database: self, query: query)
    }
}

extension QueryRow where Model: Decodable {
    init(_ found: FoundDocument) throws {
        switch found {
        case .whole(let record):
            id = record.id
            revision = record.tree.winner?.revision
            let body = record.content?.body.json ?? .object(JSONObject())
            value = try body as? Model ?? body.decode(Model.self)
        case .part(let json, let name):
            id = name
            revision = nil
            value = try json as? Model ?? json.decode(Model.self)
        }
    }
}
