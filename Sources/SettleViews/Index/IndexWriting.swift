internal import SettleCore
internal import SettleDatabase

/// Writes documents' emissions to an index file, one transaction per batch.
protocol IndexWriting: AnyObject {
    /// The connection to the file, whose table `documents` has the ids of documents with rows.
    var connection: SQLiteConnection { get }
    /// How far the index was updated.
    var state: IndexState { get }

    /// Applies changes, at most one per document, and stores the state that the index has then.
    ///
    /// - Throws: ``DatabaseError``, or what a reducer throws; then nothing is changed.
    func apply(_ changes: [IndexChange], reaching state: IndexState) throws

    /// Removes all rows.
    func clear(_ state: IndexState) throws
}

extension IndexWriting {
    /// The ids of up to `limit` documents with rows, after an id.
    func documents(after id: DocumentID?, limit: Int) throws -> [DocumentID] {
        let statement = try SQLiteStatement(
            "SELECT id FROM documents WHERE id > ?1 ORDER BY id LIMIT ?2", on: connection)
        statement.bind(1, utf8: id?.string ?? "")
        statement.bind(2, Int64(limit))
        return try statement.all { DocumentID(unchecked: $0.string(0)) }
    }
}
