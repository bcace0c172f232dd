internal import SettleCore

/// Changes the file in the open transaction of the writing connection.
final class SQLiteWriter: SQLiteReader, StorageWriter {
    /// The newest sequence, those of the open transaction included.
    private var newest: UpdateSequence?
    private var settings: [String: String?] = [:]
    private var lastRead: DocumentRecord?
    /// How many changes were begun; contents of attachments do not count, for they are harmless alone.
    private(set) var changes = 0
    /// What is to be done once the open transaction is committed.
    private(set) var commitActions: [@Sendable () -> Void] = []

    /// Whether a transaction was begun and not ended here, though SQLite may have undone it.
    var hasBegun = false
    /// Why the open write can't succeed any more, though its closure may continue.
    var doomed: (any Error)?
    /// Why SQLite undid the open transaction, if it did.
    var undone: (any Error)?

    override var lastSequence: UpdateSequence {
        get throws {
            if let newest { return newest }
            let sequence = try super.lastSequence
            newest = sequence
            return sequence
        }
    }

    /// Forgets what was cached of a transaction that was rolled back.
    func forget() {
        newest = nil
        settings = [:]
        lastRead = nil
    }

    func afterCommit(_ action: @escaping @Sendable () -> Void) { commitActions.append(action) }

    /// Forgets what was to be done after the commit, but for the first few, since the rest was rolled back.
    func forgetCommitActions(after count: Int) { commitActions.removeSubrange(min(count, commitActions.count)...) }

    /// Takes what is to be done, now that the transaction is committed.
    func takeCommitActions() -> [@Sendable () -> Void] {
        defer { commitActions.removeAll(keepingCapacity: true) }
        return commitActions
    }

    /// Counts a change that is begun elsewhere.
    func noteChange() { changes += 1 }

    override func setting(_ name: String) throws -> String? {
        if let known = settings[name] { return known }
        let value = try super.setting(name)
        settings[name] = .some(value)
        return value
    }

    private func nextSequence() throws -> UpdateSequence {
        let (number, isPastEnd) = try lastSequence.number.addingReportingOverflow(1)
        guard !isPastEnd else { throw DatabaseError(.corrupt, "the newest sequence is past all numbers") }
        let next = UpdateSequence(number)
        newest = next
        return next
    }

    func put(_ record: DocumentRecord) throws -> UpdateSequence {
        changes += 1
        lastRead = nil
        let statement = try connection.statement(.updateRecord)
        let sequence = try nextSequence()
        statement.bind(2, record.sequence.number)
        try write(record, sequence, with: statement)
        try checkOneRow(record)
        return sequence
    }

    /// Throws when a statement did not find the row it was to change: someone changed the document in between.
    private func checkOneRow(_ record: DocumentRecord) throws {
        guard connection.changedRows == 1 else {
            throw DatabaseError(
                .storage, "\"\(record.id)\" was changed while it was being written, by a validation perhaps")
        }
    }

    func putNew(_ record: DocumentRecord) throws -> UpdateSequence? {
        changes += 1
        lastRead = nil
        let statement = try connection.statement(.insertRecord)
        let before = newest
        let sequence = try nextSequence()
        statement.bind(2, utf8: record.id.string)
        try write(record, sequence, with: statement)
        if connection.changedRows > 0 { return sequence }
        newest = before
        changes -= 1
        return nil
    }

    private func write(_ record: DocumentRecord, _ sequence: UpdateSequence, with statement: SQLiteStatement) throws {
        guard let content = record.content else {
            throw DatabaseError(.storage, "a record of \"\(record.id)\" was to be written without its content")
        }
        statement.bind(1, sequence.number)
        statement.bind(3, RecordFlags(record.tree).rawValue)
        statement.bind(5, Attachment.packed(content.attachments))
        try statement.run(lending: (4, record.tree.packed()), (6, content.body.utf8))
    }

    /// Remembers the document that was read last, for who reads one in a transaction is about to change it.
    override func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        if var record = lastRead, record.id == id {
            if withContent || record.damage == nil {
                if !withContent { record.content = nil }
                return record
            }
        }
        let record = try super.storedRecord(of: id, withContent: withContent)
        lastRead = withContent ? record : nil
        return record
    }

    func updateTree(of record: DocumentRecord) throws {
        changes += 1
        lastRead = nil
        let statement = try connection.statement(.updateTree)
        statement.bind(1, record.sequence.number)
        statement.bind(2, record.tree.packed())
        statement.bind(3, RecordFlags(record.tree).rawValue)
        try statement.run()
        try checkOneRow(record)
    }

    func remove(_ record: DocumentRecord) throws {
        changes += 1
        lastRead = nil
        // Taken first: once the record is gone, the file may not know any more how far the sequence was.
        let sequence = try nextSequence()
        let statement = try connection.statement(.removeRecord)
        statement.bind(1, record.sequence.number)
        try statement.run()
        try setSetting("last_sequence", to: sequence.description)
    }

    func putContent(_ content: RevisionContent) throws -> UInt64 {
        changes += 1
        // SQLite gives the number of the last row again when that is gone.
        let floor = try setting(ContentMarks.floorSetting).flatMap { UInt64($0) }.flatMap(number)
        let statement = try connection.statement(floor == nil ? .insertContent : .insertContentBeyond)
        statement.bind(1, Attachment.packed(content.attachments))
        if let floor { statement.bind(3, floor) }
        try statement.run(lending: (2, content.body.utf8))
        return UInt64(connection.lastInsertedRow) + BodyToken.firstApart - 1
    }

    func newestContentToken() throws -> UInt64 {
        let row = try connection.integer("SELECT max(number) FROM contents") ?? 0
        let given = UInt64(exactly: row).map { $0 > 0 ? $0 + BodyToken.firstApart - 1 : 0 } ?? 0
        return max(given, try setting(ContentMarks.floorSetting).flatMap { UInt64($0) } ?? 0)
    }

    func removeContent(at token: UInt64) throws {
        guard let number = number(of: token) else { return }
        changes += 1
        let statement = try connection.statement(.removeContent)
        statement.bind(1, number)
        try statement.run()
    }

    func put(_ document: LocalDocument) throws {
        changes += 1
        let statement = try connection.statement(.putLocal)
        statement.bind(1, utf8: document.id.string)
        statement.bind(2, document.revisionNumber)
        statement.bind(3, document.body.utf8)
        try statement.run()
    }

    func removeLocalDocument(_ id: DocumentID) throws {
        changes += 1
        let statement = try connection.statement(.removeLocal)
        statement.bind(1, utf8: id.string)
        try statement.run()
    }

    func put(_ blob: BlobRecord) throws {
        let statement = try connection.statement(.putBlob)
        statement.bind(1, blob.digest.bytes)
        statement.bind(2, blob.md5)
        statement.bind(3, blob.length)
        statement.bind(4, blob.isFile ? nil : blob.content)
        try statement.run()
    }

    func removeBlob(_ digest: BlobDigest) throws {
        changes += 1
        let statement = try connection.statement(.removeBlob)
        statement.bind(1, digest.bytes)
        try statement.run()
    }

    func setExpiration(_ milliseconds: Int64?, of id: DocumentID) throws {
        changes += 1
        let statement = try connection.statement(milliseconds == nil ? .removeExpiration : .putExpiration)
        statement.bind(1, utf8: id.string)
        if let milliseconds { statement.bind(2, milliseconds) }
        try statement.run()
    }

    func setSetting(_ name: String, to value: String?) throws {
        changes += 1
        settings[name] = nil
        let statement = try connection.statement(value == nil ? .removeSetting : .putSetting)
        statement.bind(1, utf8: name)
        if let value { statement.bind(2, utf8: value) }
        try statement.run()
    }
}
