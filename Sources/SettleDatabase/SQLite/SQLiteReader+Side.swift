internal import SettleCore

extension SQLiteReader {
    func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? {
        switch key {
        case .setting(let name): return try setting(name).map { .setting(name: name, value: $0) }
        case .local(let id):
            let statement = try connection.statement(.local)
            statement.bind(1, utf8: id.string)
            return try statement.first(localDocument).map(SideRecord.local)
        case .expiration(let id):
            let statement = try connection.statement(.expiration)
            statement.bind(1, utf8: id.string)
            return try statement.first { .expiration(of: id, at: $0.integer(0)) }
        case .blob(let digest):
            let statement = try connection.statement(.blob)
            statement.bind(1, digest.bytes)
            return try statement.first { .blob(try blob($0, digest)) }
        case .journal(let number):
            let statement = try connection.statement(.journalEntry)
            statement.bind(1, number)
            return try statement.first(journalEntry).map(SideRecord.journal)
        case .content(let token): return try content(at: token).map { .content(token, $0) }
        }
    }

    func sideRecords(_ scan: SideRecord.Scan, limit: Int) throws -> [SideRecord] {
        let statement: SQLiteStatement
        switch scan {
        case .locals(let id):
            statement = try connection.statement(.locals)
            statement.bind(1, utf8: id?.string ?? "")
            statement.bind(2, Int64(limit))
            return try statement.all(by: \.id, beyond: id, localDocument).map(SideRecord.local)
        case .expirations(let time):
            statement = try connection.statement(.expirations)
            statement.bind(1, time)
            statement.bind(2, Int64(limit))
            return try statement.all { .expiration(of: DocumentID(unchecked: $0.string(0)), at: $0.integer(1)) }
        case .expirationsByID(let id):
            statement = try connection.statement(.expirationsByID)
            statement.bind(1, utf8: id?.string ?? "")
            statement.bind(2, Int64(limit))
            return try statement.all(by: \.0, beyond: id) { try ($0.id(0), $0.integer(1)) }
                .map { .expiration(of: $0, at: $1) }
        case .settings(let name):
            statement = try connection.statement(.settings)
            statement.bind(1, utf8: name ?? "")
            statement.bind(2, Int64(limit))
            return try statement.all { .setting(name: $0.string(0), value: $0.string(1)) }
        case .blobs(let digest):
            statement = try connection.statement(.blobs)
            statement.bind(1, digest?.bytes ?? [])
            statement.bind(2, Int64(limit))
            return try statement.all(by: \.digest, beyond: digest, blobWithoutContent).map(SideRecord.blob)
        case .journal(let number):
            statement = try connection.statement(.journal)
            statement.bind(1, number)
            statement.bind(2, Int64(limit))
            return try statement.all(by: \.number, beyond: number, journalEntry).map(SideRecord.journal)
        case .newestJournal:
            statement = try connection.statement(.newestJournal)
            statement.bind(1, Int64(limit))
            return try statement.all(journalEntry).map(SideRecord.journal)
        case .contents(let token):
            return try contentTokens(after: token, descending: false, limit: limit).map { .content($0, nil) }
        case .newestContents:
            return try contentTokens(after: 0, descending: true, limit: limit).map { .content($0, nil) }
        }
    }

    private func localDocument(_ row: SQLiteStatement) throws -> LocalDocument {
        LocalDocument(
            id: try row.id(0), revisionNumber: row.integer(1),
            body: DocumentBody(unchecked: row.bytes(2)))
    }

    private func blob(_ row: SQLiteStatement, _ digest: BlobDigest) throws -> BlobRecord {
        let isFile = row.isNull(3)
        let (length, content) = (row.integer(2), isFile ? nil : row.bytes(3))
        guard length >= 0, Int64(content?.count ?? Int(length)) == length else {
            throw DatabaseError(.corrupt, "the length of the attachment content \(digest) is not \(length)")
        }
        return BlobRecord(digest: digest, md5: row.bytes(1), length: length, content: content, isFile: isFile)
    }

    private func blobWithoutContent(_ row: SQLiteStatement) throws -> BlobRecord {
        guard let digest = BlobDigest(row.bytes(0)) else {
            throw DatabaseError(.corrupt, "a blob's digest has not 32 bytes")
        }
        return BlobRecord(
            digest: digest, md5: row.bytes(1), length: row.integer(2), content: nil, isFile: row.integer(3) != 0)
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
        do {
            return .given(
                try row.withBytes(column + 1) {
                    try RevisionContent(storedAttachments: $0, body: row.bytes(column))
                })
        } catch {
            throw DatabaseError(
                .corrupt, "operation \(row.integer(0)) of the journal can't be read: \(error)", cause: error)
        }
    }
}

// MARK: - JournalFlags

/// The contents of an operation that the document keeps, in the form stored in the file.
struct JournalFlags: OptionSet {
    let rawValue: Int64
    /// The content after the operation is that of its revision.
    static let new = JournalFlags(rawValue: 1)
    /// The content before the operation is that of its revision's parent.
    static let old = JournalFlags(rawValue: 2)
}
