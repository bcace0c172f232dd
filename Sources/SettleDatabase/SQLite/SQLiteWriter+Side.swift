internal import SettleCore

extension SQLiteWriter {
    func put(_ record: SideRecord) throws {
        switch record {
        case .setting(let name, let value):
            settings[name] = nil
            try run(.putSetting) {
                $0.bind(1, utf8: name)
                $0.bind(2, utf8: value)
            }
        case .local(let document):
            try run(.putLocal) {
                $0.bind(1, utf8: document.id.string)
                $0.bind(2, document.revisionNumber)
                $0.bind(3, document.body.utf8)
            }
        case .expiration(let id, let time):
            try run(.putExpiration) {
                $0.bind(1, utf8: id.string)
                $0.bind(2, time)
            }
        case .blob(let blob):
            // This does not count as a change: a content that is not referenced is harmless.
            let statement = try connection.statement(.putBlob)
            statement.bind(1, blob.digest.bytes)
            statement.bind(2, blob.md5)
            statement.bind(3, blob.length)
            statement.bind(4, blob.isFile ? nil : blob.content)
            try statement.run()
        case .journal(let entry): try put(entry)
        case .content(let token, let content): try put(content, at: token)
        }
    }

    func remove(_ key: SideRecord.Key) throws {
        switch key {
        case .setting(let name):
            settings[name] = nil
            try run(.removeSetting) { $0.bind(1, utf8: name) }
        case .local(let id): try run(.removeLocal) { $0.bind(1, utf8: id.string) }
        case .expiration(let id): try run(.removeExpiration) { $0.bind(1, utf8: id.string) }
        case .blob(let digest): try run(.removeBlob) { $0.bind(1, digest.bytes) }
        case .journal(let number): try run(.removeJournalEntry) { $0.bind(1, number) }
        case .content(let token):
            guard let number = number(of: token) else { return }
            try run(.removeContent) { $0.bind(1, number) }
        }
    }

    private func put(_ content: RevisionContent?, at token: UInt64) throws {
        guard let content, let number = number(of: token) else {
            throw DatabaseError(.invalid, "no content can have the token \(token)")
        }
        nesting.changes += 1
        let statement = try connection.statement(.restoreContent)
        statement.bind(1, number)
        statement.bind(2, content.storedAttachments)
        try statement.lending(3, content.body.utf8) { try statement.runLent() }
        guard connection.changedRows == 1 else {
            throw DatabaseError(.conflict, "there is a content with the token \(token) already")
        }
    }

    /// Removes all entries of the journal, including damaged ones.
    func removeJournal() throws { try run(.removeJournal) { _ in } }

    private func run(_ sql: SQL, _ bind: (SQLiteStatement) -> Void) throws {
        nesting.changes += 1
        let statement = try connection.statement(sql)
        bind(statement)
        try statement.run()
    }

    private func put(_ entry: StoredJournalEntry) throws {
        nesting.changes += 1
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
        try statement.lending(2, utf8: entry.documentID.string) {
            try statement.lending(3, utf8: entry.revision.description) { try statement.runLent() }
        }
    }

    private func bind(_ content: StoredJournalEntry.Content, at column: Int32, of statement: SQLiteStatement) {
        guard case .given(let content) = content else {
            statement.bind(column, [UInt8]?.none)
            statement.bind(column + 1, [UInt8]?.none)
            return
        }
        statement.bind(column, content.body.utf8)
        statement.bind(column + 1, content.storedAttachments)
    }
}
