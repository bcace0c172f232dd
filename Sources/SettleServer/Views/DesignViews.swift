package import RevisionTree
package import SettleDatabase
package import SettleScripting
internal import SettleViews

/// The views of a database's design documents without HTTP, from the same index files and by the same workers as the server's.
package final class DesignViews: Sendable {
    private let database: Database
    private let scripts: Scripts
    private let metrics = Metrics()

    /// Makes one; workers are started when they are needed.
    package init(_ database: Database, scripts options: ScriptOptions) {
        self.database = database
        scripts = Scripts(options, log: nil)
    }

    deinit { scripts.close() }

    /// Hands on the answer to a query as the server sends it, a piece at a time.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - design: Its design document, without `_design/`.
    ///   - parameters: What stands behind the question mark of a request.
    ///   - keys: The keys of interest, where they are many.
    ///   - report: Called with the number of changes the index has processed, and of all changes; throwing ends that.
    ///   - body: Gets the pieces, and says whether it wants more.
    /// - Throws: ``DatabaseError`` with code `notFound` for a view that is not there, `invalid` for parameters that can't be;
    ///   ``ScriptError``, ``ViewError``, and what the closures throw.
    package func query(
        _ view: String, of design: String, _ parameters: [(name: String, value: String)], keys: [JSON]? = nil,
        report: (_ done: Int, _ total: Int) throws -> Void, _ body: ([UInt8]) throws -> Bool
    ) throws {
        try told {
            var query = ViewQuery()
            if let keys { try query.take(JSONObject([("keys", .array(keys))])) }
            try query.take(QueryParameters(parameters))
            let group = try group(design)
            let place = try group.view(view)
            try query.check(place)
            if query.update == .before { try place.part.update(from: database, report: report) }
            var answer = ViewAnswer(group, place, query, database, metrics)
            answers: while let text = try answer.next() {
                var pieces = TextPieces(text, database)
                while let piece = try pieces.read() { guard try body(piece) else { break answers } }
            }
            if query.update == .after { try place.part.update(from: database, report: report) }
        }
    }

    /// Brings the views of a design document to where the database is.
    ///
    /// - Parameters:
    ///   - design: The design document, without `_design/`.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the work, and what is done stays.
    /// - Throws: As ``query(_:of:_:keys:report:_:)`` does.
    package func build(_ design: String, report: (_ done: Int, _ total: Int) throws -> Void) throws {
        try told {
            let group = try group(design)
            try group.update(from: database, report: report)
        }
    }

    /// What the server says of a design document's index under `view_index`.
    ///
    /// - Throws: As ``query(_:of:_:keys:report:_:)`` does.
    package func info(_ design: String) throws -> JSON {
        try told { try group(design).info(of: database, isRunning: false) }
    }

    /// Sees that a design document has the form of one.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`, which names the member that is wrong.
    package static func check(_ members: JSONObject) throws {
        do { try DesignDocumentCheck.check(members) } catch let error as HTTPError {
            throw DatabaseError(.invalid, error.reason)
        }
    }

    private func group(_ design: String) throws -> ViewGroup {
        try ViewGroup(try DesignDocuments.document(design, of: database), of: database, by: scripts)
    }

    /// Tells what the server would answer with a status as an error of the library.
    private func told<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as HTTPError {
            switch error.status {
            case 404: throw DatabaseError(.notFound, "the design document or the view is not there: \(error.reason)")
            default: throw DatabaseError(.invalid, "\(error.error): \(error.reason)")
            }
        }
    }
}
