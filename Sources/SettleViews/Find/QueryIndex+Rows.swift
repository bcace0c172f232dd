import RevisionTree
package import SettleDatabase

extension QueryIndex {
    /// What is known of an index beside its definition.
    package struct Status: Sendable {
        /// How many rows it has; of texts, how many documents.
        package let rows: Int
        /// How many bytes its file has, which indexes of the same members share.
        package let size: Int
        /// How many changes of the database are not in it yet.
        package let pending: Int
    }

    /// Where its rows are, of an index of members.
    func rows(in database: Database) throws -> ViewIndex {
        try IndexFolder.of(database).index(fileName) { place in
            ViewIndex(at: place, definitions: [ViewDefinition(reducers: [CountReducer()])])
        }
    }

    /// Where the rows of an index of members are, as a view whose reduce function is `_count`, and what makes them.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` when there can be no folder.
    package func files(in database: Database) throws -> (index: ViewIndex, mapper: any ViewMapper) {
        (try rows(in: database), IndexMapper(self))
    }

    /// Brings it to where the database is now.
    ///
    /// - Parameters:
    ///   - database: The database that defines it. The list of all documents is always there, and takes nothing.
    ///   - report: Called with the number of processed changes, and of all changes; throwing ends the work, and what is done stays.
    /// - Throws: ``DatabaseError``, or what `report` throws.
    package func update(from database: Database, report: (_ done: Int, _ total: Int) throws -> Void) throws {
        if isAllDocuments { return }
        if let search { return try search.rows(in: database).update(from: database, report: report) }
        try rows(in: database).update(from: database, by: IndexMapper(self), report: report)
    }

    /// How large it is, and how far behind; `nil` of the list of all documents.
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
