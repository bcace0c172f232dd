package import RevisionTree
package import SettleDatabase
internal import SettleViews

/// The queries and indexes of a database without HTTP, asked and answered in the JSON of `_find`, `_explain` and `_index`.
package struct SelectorQueries: Sendable {
    private let database: Database

    /// Asks a database.
    package init(_ database: Database) { self.database = database }

    /// Hands on the answer to `_find` as the server sends it, a piece at a time.
    ///
    /// - Parameters:
    ///   - request: The body of a request.
    ///   - report: Called with the number of changes the index has processed, and of all changes; throwing ends that.
    ///   - body: Gets the pieces, and says whether it wants more.
    /// - Throws: ``QueryError`` and ``SelectorError`` for what can't be asked; ``DatabaseError`` with code `invalid` for what
    ///   is no request; and what the closures throw.
    package func find(
        _ request: JSONObject, report: (_ done: Int, _ total: Int) throws -> Void, _ body: ([UInt8]) throws -> Bool
    ) throws {
        try told {
            let request = try FindRequest(request)
            let cursor = try FindCursor(request.resumed(), in: database)
            try cursor.update(report: report)
            var answer = FindAnswer(cursor, request, database, Metrics())
            while !answer.isDone {
                guard try body(answer.next()) else { return }
            }
        }
    }

    /// How a query would be answered, as `_explain` tells it.
    ///
    /// - Parameters:
    ///   - request: The body of a request.
    ///   - name: What the database is called.
    /// - Returns: CouchDB's object.
    /// - Throws: As ``find(_:report:_:)``, but where no index serves the order.
    package func explain(_ request: JSONObject, name: String) throws -> JSON {
        try told {
            let request = try FindRequest(request)
            let plan = try FindPlanner(request.options, indexes: QueryIndexes.all(in: database)).explained()
            return FindExplanation(request: request, plan: plan, name: name).json
        }
    }

    /// The indexes as `_index` lists them, those of a design document with `rows`, `size` in bytes, and how many changes are
    /// `pending`.
    ///
    /// - Throws: ``DatabaseError``.
    package func indexes() throws -> [JSON] {
        try QueryIndexes.all(in: database).map { index in
            var line = FindExplanation.json(index)
            guard let status = try index.status(in: database) else { return line }
            for (name, count) in [("rows", status.rows), ("size", status.size), ("pending", status.pending)] {
                line[name] = .number(JSONNumber(count))
            }
            return line
        }
    }

    /// Makes an index unless it is there already, and answers as `_index` does: `result`, `id` and `name`.
    ///
    /// - Throws: ``QueryError`` and ``SelectorError`` for what can be no index; ``DatabaseError``.
    package func create(_ request: JSONObject) throws -> JSON {
        try told {
            let made = try database.createIndex(try IndexRequest.definition(request, makesTextIndexes: true))
            return [
                "result": made.isNew ? "created" : "exists",
                "id": .string(made.index.designDocument?.string ?? ""), "name": .string(made.index.name),
            ]
        }
    }

    /// Removes an index.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - type: `json` or `text`.
    ///   - designDocument: The id of its design document.
    /// - Throws: ``DatabaseError`` with code `notFound`.
    package func delete(_ name: String, type: String, of designDocument: String) throws {
        try database.deleteIndex(try index(name, type, of: designDocument))
    }

    /// Brings an index to where the database is.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - type: `json` or `text`.
    ///   - designDocument: The id of its design document.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the work, and what is done stays.
    /// - Throws: ``DatabaseError`` with code `notFound`, and what `report` throws.
    package func build(
        _ name: String, type: String, of designDocument: String, report: (_ done: Int, _ total: Int) throws -> Void
    ) throws { try index(name, type, of: designDocument).update(from: database, report: report) }

    private func index(_ name: String, _ type: String, of designDocument: String) throws -> QueryIndex {
        let found = try QueryIndexes.all(in: database).first {
            $0.name.utf8.elementsEqual(name.utf8) && $0.designDocument?.string == designDocument
                && FindExplanation.type(of: $0) == type
        }
        guard let found else { throw DatabaseError(.notFound, "there is no index \"\(name)\" of \(designDocument)") }
        return found
    }

    /// Tells what the server would answer with a status as an error of the library.
    private func told<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as HTTPError {
            throw DatabaseError(.invalid, "\(error.error): \(error.reason)")
        }
    }
}
