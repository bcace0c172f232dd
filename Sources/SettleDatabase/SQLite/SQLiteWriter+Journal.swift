internal import RevisionTree

extension SQLiteWriter {
    func putJournalEntry(_ entry: JournalEntry) throws {
        noteChange()
        let statement = try connection.statement(.putJournal)
        statement.bind(1, entry.number)
        statement.bind(2, utf8: entry.documentID.string)
        statement.bind(3, utf8: entry.revision.description)
        statement.bind(4, entry.time)
        statement.bind(6, entry.old.flatMap { Attachment.packed($0.attachments) })
        statement.bind(8, entry.new.flatMap { Attachment.packed($0.attachments) })
        switch (entry.old?.body.utf8, entry.new?.body.utf8) {
        case (let old?, let new?): try statement.run(lending: (5, old), (7, new))
        case (let old?, nil):
            statement.bind(7, [UInt8]?.none)
            try statement.run(lending: (5, old))
        case (nil, let new?):
            statement.bind(5, [UInt8]?.none)
            try statement.run(lending: (7, new))
        case (nil, nil):
            throw DatabaseError(.storage, "an entry of the journal was to be written without contents")
        }
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
