public import SettleDatabase

extension Database {
    /// Finds the documents that match a query.
    ///
    ///     for person in try database.find(DocumentQuery<Person>().where { $0.age > 30 }) { print(person.id, person.name) }
    ///
    /// Each row is a ``Saved`` model, with the document's id and revision, and can be changed and saved. The index
    /// is updated first, which takes time proportional to the changes since its last use. A document that does not
    /// fit the model is listed in ``QueryResult/misfits``, and counts towards the query's limit.
    ///
    /// - Returns: All matching documents, in memory, unless the query has a limit; see ``pages(of:size:)``.
    /// - Throws: ``QueryError``: `noUsableIndex` if no index has the requested order and too many documents match
    ///   to sort them in memory, `invalidIndex` if the required index does not fit, `invalidBookmark` for text that
    ///   is not a bookmark, or `unknownField`; ``SelectorError``; ``DatabaseError``.
    /// - Complexity: O(log *n* + *k*) for *k* rows in the range of the index that the conditions allow, O(*n*)
    ///   without an index. Sorting in memory adds O(*m* log *m*) for *m* documents that match.
    public func find<Model>(_ query: DocumentQuery<Model>) throws -> QueryResult<Model> {
        try log.measure(.query, logMetadata) { try find(query) {} }
    }

    /// Finds the documents that match a query, off the caller's thread, until the task is cancelled.
    ///
    ///     let result = try await database.find(DocumentQuery<Person>().where { $0.age > 30 })
    ///
    /// It finds what ``find(_:)-(DocumentQuery<Model>)`` does.
    ///
    /// - Returns: All documents, unless the query has a limit.
    /// - Throws: `CancellationError`; otherwise as the synchronous form.
    public func find<Model>(_ query: DocumentQuery<Model>) async throws -> QueryResult<Model> {
        try await perform { database, cancellation in
            try database.log.measure(.query, database.logMetadata) {
                try database.find(query) { try cancellation.check() }
            }
        }
    }

    private func find<Model>(
        _ query: DocumentQuery<Model>, checking: () throws -> Void
    ) throws -> QueryResult<Model> {
        try checking()
        var cursor = try FindCursor(query.options(), in: self)
        try cursor.update { _, _ in try checking() }
        var result = QueryResult<Model>()
        while !cursor.isDone {
            try checking()
            try cursor.next(lookingAt: 1000) { found in
                result.append(found, in: self)
                return true
            }
        }
        result.finish(cursor)
        return result
    }

    /// Plans a query without running it: the index, the range that is read, and why other indexes are not used.
    ///
    /// - Throws: As `find(_:)`, except `noUsableIndex`.
    public func explain<Model>(_ query: DocumentQuery<Model>) throws -> QueryPlan {
        try FindPlanner(query.options(), indexes: QueryIndexes.all(in: self)).explained()
    }

    /// The documents of a query in pages, in bounded memory. If the order has no index, the documents to sort are
    /// kept in memory, and documents that are written after the first page was read are not found. In a search for
    /// text they may be missing.
    ///
    ///     for try await page in database.pages(of: DocumentQuery<Person>(), size: 100) { show(page.rows) }
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - size: The number of documents per page, except the last one.
    /// - Returns: The pages. The index is updated before each of them, so documents inserted after the last one during
    ///   the iteration are found; none is missed or returned twice unless it changes its position. A page of a query
    ///   that examines more than 1000 documents for it is read in several steps, each from one snapshot of the
    ///   database.
    public func pages<Model>(of query: DocumentQuery<Model>, size: Int = 100) -> QueryPages<Model> {
        QueryPages(database: self, query: query, size: max(size, 1))
    }

    /// Observes a query as a live query: its current results first, then after each change of them.
    ///
    /// - Returns: An endless sequence of the full results.
    public func observe<Model>(_ query: DocumentQuery<Model>) -> QueryObservation<Model> {
        QueryObservation(database: self, query: query)
    }
}
