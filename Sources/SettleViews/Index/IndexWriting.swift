internal import RevisionTree
internal import SettleDatabase

/// Brings what documents emit into an index file, a batch in one transaction.
protocol IndexWriting: AnyObject {
    /// The file, whose table `documents` has the ids of those that have rows.
    var connection: SQLiteConnection { get }
    /// How far the index has come.
    var state: IndexState { get }

    /// Applies what became of documents, each of which is there once, and says that the index has come so far.
    ///
    /// - Throws: ``DatabaseError``, or what a reducer throws; nothing is changed then.
    func apply(_ changes: [IndexChange], reaching state: IndexState) throws

    /// Forgets all rows.
    func clear(_ state: IndexState) throws
}

extension IndexWriting {
    /// The ids of the documents that have rows, so many after one.
    func documents(after id: DocumentID?, limit: Int) throws -> [DocumentID] {
        let statement = try SQLiteStatement(
            "SELECT id FROM documents WHERE id > ?1 ORDER BY id LIMIT ?2", on: connection)
        statement.bind(1, utf8: id?.string ?? "")
        statement.bind(2, Int64(limit))
        return try statement.all { DocumentID(unchecked: $0.string(0)) }
    }
}
