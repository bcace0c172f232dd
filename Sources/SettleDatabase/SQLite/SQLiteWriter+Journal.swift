internal import RevisionTree

extension SQLiteWriter {
    func putJournalEntry(_ entry: StoredJournalEntry) throws {
        noteChange()
        let statement = try connection.statement(.putJournal)
        statement.bind(1, entry.number)
        statement.bind(2, utf8: entry.documentID.string)
        statement.bind(3, utf8: entry.revision.description)
        statement.bind(4, entry.time)
        var kept: JournalFlags = []
        if entry.old == .kept { kept.insert(.old) }
        if entry.new == .kept { kept.insert(.new) }
        statement.bind(9, kept.rawValue)
        bind(entry.old, at: 5, of: statement)
        bind(entry.new, at: 7, of: statement)
        try statement.run()
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
