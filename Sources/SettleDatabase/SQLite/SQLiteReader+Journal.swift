internal import SettleCore

extension SQLiteReader {
    func journalEntries(after number: Int64, limit: Int) throws -> [StoredJournalEntry] {
        let statement = try connection.statement(.journal)
        statement.bind(1, number)
        statement.bind(2, Int64(limit))
        return try statement.all(by: \.number, beyond: number, journalEntry)
    }

    func newestJournalEntries(limit: Int) throws -> [StoredJournalEntry] {
        let statement = try connection.statement(.newestJournal)
        statement.bind(1, Int64(limit))
        return try statement.all(journalEntry)
    }

    func journalEntry(_ number: Int64) throws -> StoredJournalEntry? {
        let statement = try connection.statement(.journalEntry)
        statement.bind(1, number)
        return try statement.first(journalEntry)
    }

    private func journalEntry(_ row: SQLiteStatement) throws -> StoredJournalEntry {
        guard let revision = RevisionID(row.string(2)) else {
            throw DatabaseError(.corrupt, "an entry of the journal has no revision")
        }
        let kept = JournalFlags(rawValue: row.integer(8))
        return StoredJournalEntry(
            number: row.integer(0), documentID: try row.id(1), revision: revision,
            old: kept.contains(.old) ? .kept : try journalContent(row, 4),
            new: kept.contains(.new) ? .kept : try journalContent(row, 6), time: row.integer(3))
    }

    private func journalContent(_ row: SQLiteStatement, _ column: Int32) throws -> StoredJournalEntry.Content {
        guard !row.isNull(column) else { return .none }
        let list: [Attachment]
        do { list = row.isNull(column + 1) ? [] : try Attachment.unpack(row.bytes(column + 1)) } catch {
            throw DatabaseError(
                .corrupt, "operation \(row.integer(0)) of the journal can't be read: \(error)", cause: error)
        }
        return .given(RevisionContent(body: DocumentBody(unchecked: row.bytes(column)), attachments: list))
    }
}
