internal import SettleCore

extension SQLiteWriter {
    func putJournalEntry(_ entry: StoredJournalEntry) throws {
        noteChange()
        var kept: JournalFlags = []
        if case .kept = entry.old { kept.insert(.old) }
        if case .kept = entry.new { kept.insert(.new) }
        let statement: SQLiteStatement
        if entry.hasContents {
            statement = try connection.statement(.putJournal)
            bind(entry.old, at: 5, of: statement)
            bind(entry.new, at: 7, of: statement)
            statement.bind(9, kept.rawValue)
        } else {
            statement = try connection.statement(.putShortJournal)
            statement.bind(5, kept.rawValue)
        }
        statement.bind(1, entry.number)
        statement.bind(4, entry.time)
        try statement.run(lending: (2, utf8: entry.documentID.string), (3, utf8: entry.revision.description))
    }

    private func bind(_ content: StoredJournalEntry.Content, at column: Int32, of statement: SQLiteStatement) {
        guard case .given(let content) = content else {
            statement.bind(column, [UInt8]?.none)
            statement.bind(column + 1, [UInt8]?.none)
            return
        }
        statement.bind(column, content.body.utf8)
        statement.bind(column + 1, Attachment.packed(content.attachments))
    }

    func removeJournalEntry(_ number: Int64) throws {
        noteChange()
        let statement = try connection.statement(.removeJournalEntry)
        statement.bind(1, number)
        try statement.run()
    }

    func removeJournal() throws {
        noteChange()
        try connection.statement(.removeJournal).run()
    }
}
