import RevisionTree
public import SettleDatabase

extension Database {
    /// The documents that a query asks for.
    ///
    ///     let result = try database.find(Query<Person>().where { $0.age > 30 })
    ///     print(result.values, result.warnings)
    ///
    /// The index is brought up to date before, which takes as long as there are changes since it was last asked.
    ///
    /// - Returns: The documents, all unless the query says how many, which takes memory for all of them; see
    ///   ``pages(of:size:)``.
    /// - Throws: ``QueryError`` when no index serves the order (`noUsableIndex`) or the one that is required does not fit
    ///   (`invalidIndex`), for text that is not a bookmark (`invalidBookmark`), and `unknownField`; ``SelectorError``; `DecodingError`
    ///   when a document does not fit the model; ``DatabaseError``.
    /// - Complexity: O(log *n* + *k*) for *k* rows of an index in the range that its conditions leave, O(*n*) without one.
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

    /// How a query would be answered: by which index, which part of it, and why not by others.
    ///
    /// - Throws: As ``find(_:)``, but for `noUsableIndex`.
    public func explain<Model>(_ query: Query<Model>) throws -> QueryPlan {
        try FindPlanner(query.options(), indexes: QueryIndexes.all(in: self)).explained()
    }

    /// The documents of a query, a page at a time, in bounded memory.
    ///
    ///     for try await page in database.pages(of: Query<Person>(), size: 100) { show(page) }
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - size: How many documents a page has, but for the last one.
    /// - Returns: The pages, each of one state of the database; what is inserted behind the last document while they are asked
    ///   for is found, none is left out or comes twice unless it changes its place.
    public func pages<Model>(of query: Query<Model>, size: Int = 100) -> QueryPages<Model> {
        QueryPages(database: self, query: query, size: max(size, 1))
    }

    /// Observes what a query finds: first as it is, then whenever it is something else.
    ///
    /// - Returns: The documents, each time all of them, without end.
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
