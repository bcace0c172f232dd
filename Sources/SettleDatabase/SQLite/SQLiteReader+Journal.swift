internal import RevisionTree

extension SQLiteReader {
    func journalEntries(after number: Int64, limit: Int) throws -> [JournalEntry] {
        let statement = try connection.statement(.journal)
        statement.bind(1, number)
        statement.bind(2, Int64(limit))
        return try statement.all(by: \.number, beyond: number, journalEntry)
    }

    func newestJournalEntries(limit: Int) throws -> [JournalEntry] {
        let statement = try connection.statement(.newestJournal)
        statement.bind(1, Int64(limit))
        return try statement.all(journalEntry)
    }

    func journalEntry(_ number: Int64) throws -> JournalEntry? {
        let statement = try connection.statement(.journalEntry)
        statement.bind(1, number)
        return try statement.first(journalEntry)
    }

    private func journalEntry(_ row: SQLiteStatement) throws -> JournalEntry {
        guard let revision = RevisionID(row.string(2)) else {
            throw DatabaseError(.corrupt, "an entry of the journal has no revision")
        }
        return JournalEntry(
            number: row.integer(0), documentID: try row.id(1), revision: revision,
            old: try journalContent(row, 4), new: try journalContent(row, 6), time: row.integer(3))
    }

    private func journalContent(_ row: SQLiteStatement, _ column: Int32) throws -> RevisionContent? {
        guard !row.isNull(column) else { return nil }
        let list = row.isNull(column + 1) ? [] : Attachment.unpack(row.bytes(column + 1))
        guard let list else { throw DatabaseError(.corrupt, "a list of attachments can't be read") }
        return RevisionContent(body: DocumentBody(unchecked: row.bytes(column)), attachments: list)
    }
}
