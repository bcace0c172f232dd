import SettleCore
package import SettleDatabase

extension QueryIndex {
    /// The state of an index.
    package struct Status: Sendable {
        /// The number of rows; for text indexes, of documents.
        package let rows: Int
        /// The size of its file in bytes; indexes of the same members share it.
        package let size: Int
        /// The number of changes of the database that are not in it yet.
        package let pending: Int
    }

    /// The rows of an index of members.
    func rows(in database: Database) throws -> ViewIndex {
        try IndexFolder.of(database).index(fileName) { place in
            ViewIndex(at: place, definitions: [ViewDefinition(reducers: [CountReducer()])])
        }
    }

    /// The rows of an index of members, as a view whose reduce function is `_count`, and their mapper.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` when the folder can't be created.
    package func files(in database: Database) throws -> (index: ViewIndex, mapper: any ViewMapper) {
        (try rows(in: database), IndexMapper(self))
    }

    /// Updates the index.
    ///
    /// - Parameters:
    ///   - database: The database that defines it. The list of all documents always exists and needs no update.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the update, and
    ///     completed batches are kept.
    /// - Throws: ``DatabaseError``, or what `report` throws.
    package func update(from database: Database, report: (_ done: Int, _ total: Int) throws -> Void) throws {
        if isAllDocuments { return }
        if let search { return try search.rows(in: database).update(from: database, report: report) }
        try rows(in: database).update(from: database, by: IndexMapper(self), report: report)
    }

    /// Its size and the number of pending changes; `nil` for the list of all documents.
    ///
    /// - Throws: ``DatabaseError``.
    /// - Complexity: O(*n* / 100) for *n* rows, and O(*k*) for *k* pending changes.
    package func status(in database: Database) throws -> Status? {
        if isAllDocuments { return nil }
        let (count, sequence) =
            try search.map { try $0.rows(in: database).read { (try $0.count(), try $0.sequence()) } }
            ?? rows(in: database).read { (try $0.count(0), $0.sequence) }
        return Status(
            rows: count, size: IndexFolder.of(database).size(fileName),
            pending: try database.count(changedIn: SequenceRange(after: sequence)))
    }
}
