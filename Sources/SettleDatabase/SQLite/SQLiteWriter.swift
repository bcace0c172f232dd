internal import SettleCore

/// Changes the file in the open transaction of the writing connection.
final class SQLiteWriter: SQLiteReader, NestingWriter {
    /// The newest sequence, those of the open transaction included.
    var newest: UpdateSequence?
    /// The last sealed sequence, if it was read.
    var sealed: Int64?
    /// The settings that were read in the open transaction.
    var settings: [String: String?] = [:]
    /// The document that was read last.
    var lastRead: DocumentRecord?
    var nesting = WriteNesting()

    /// Whether a transaction was begun and not ended here; SQLite may have rolled it back.
    var hasBegun = false
    /// The error after which SQLite undid the open transaction, if it did.
    var undone: (any Error)?

    override var lastSequence: UpdateSequence {
        get throws {
            if let newest { return newest }
            let sequence = try super.lastSequence
            newest = sequence
            return sequence
        }
    }

    /// Clears the caches after a transaction was rolled back.
    func forget() {
        newest = nil
        sealed = nil
        settings = [:]
        lastRead = nil
    }

    override func prepareCounts() throws { try sealCounts() }

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

    func apply(_ change: DocumentChange) throws -> UpdateSequence? {
        nesting.changes += 1
        lastRead = nil
        try sealIfMany()
        let before = newest
        let (sequence, isExpected): (UpdateSequence, Bool)
        switch change {
        case .insert(let record):
            let statement = try connection.statement(.insertRecord)
            sequence = try nextSequence()
            try statement.lending(2, utf8: record.id.string) { try write(record, sequence, with: statement) }
            isExpected = connection.changedRows == 1
        case .update(let record):
            let statement = try connection.statement(.updateRecord)
            sequence = try nextSequence()
            statement.bind(2, record.sequence.number)
            try statement.bind(7, sealedSequence())
            try write(record, sequence, with: statement)
            isExpected = connection.changedRows == 1
        case .updateTree(let record):
            sequence = record.sequence
            isExpected = try rewrite(.updateTree, record, now: RecordFlags(record.tree)) { statement in
                statement.bind(2, record.storedTree)
                statement.bind(3, RecordFlags(record.tree).rawValue)
            }
        case .remove(let record):
            // Read before the removal: afterwards no row of the file may have the newest sequence.
            sequence = try nextSequence()
            isExpected = try rewrite(.removeRecord, record, now: nil)
            if isExpected { try put(.setting(name: "last_sequence", value: sequence.description)) }
        }
        if isExpected { return sequence }
        newest = before
        nesting.changes -= 1
        return nil
    }

    /// Changes or removes the row of a document at its current sequence, and updates the sums; `false` if there is
    /// no row.
    private func rewrite(
        _ sql: SQL, _ record: DocumentRecord, now flags: RecordFlags?, _ bind: (SQLiteStatement) -> Void = { _ in }
    ) throws -> Bool {
        guard let before = try countedDocument(at: record.sequence) else { return false }
        let statement = try connection.statement(sql)
        statement.bind(1, record.sequence.number)
        bind(statement)
        try statement.run()
        try recount(before, now: flags)
        return true
    }

    func write(_ record: DocumentRecord, _ sequence: UpdateSequence, with statement: SQLiteStatement) throws {
        guard let content = record.content else {
            throw DatabaseError(.storage, "a record of \"\(record.id)\" was to be written without its content")
        }
        statement.bind(1, sequence.number)
        statement.bind(3, RecordFlags(record.tree).rawValue)
        try statement.lending(4, record.storedTree) {
            try statement.lending(5, content.storedAttachments) {
                try statement.lending(6, content.body.utf8) { try statement.runLent() }
            }
        }
    }

    /// Caches the last document read, because a read inside a transaction is usually followed by a write.
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

    func putContent(_ content: RevisionContent) throws -> UInt64 {
        nesting.changes += 1
        // SQLite gives the number of the last row again when that is gone.
        let floor = try setting(BodyToken.floorSetting).flatMap { UInt64($0) }.flatMap(number)
        let statement = try connection.statement(floor == nil ? .insertContent : .insertContentBeyond)
        if let floor { statement.bind(3, floor) }
        try statement.lending(1, content.storedAttachments) {
            try statement.lending(2, content.body.utf8) { try statement.runLent() }
        }
        return UInt64(connection.lastInsertedRow) + BodyToken.firstApart - 1
    }
}

// MARK: - Transaction

extension SQLiteWriter {
    /// Begins a transaction.
    func begin() throws {
        try connection.statement(.begin).run()
        hasBegun = true
        undone = nil
    }

    /// Commits the open transaction.
    ///
    /// - Throws: ``DatabaseError`` of the storage; the caller then rolls back.
    func commit() throws {
        try checkTransaction()
        try sealCounts()
        try connection.statement(.commit).run()
        hasBegun = false
    }

    /// Rolls back the transaction, if SQLite has not done so already.
    func rollBack() {
        if connection.isInTransaction { try? connection.statement(.rollback).run() }
        hasBegun = false
        forget()
        nesting.forgetActions(after: 0)
    }

    /// Throws when SQLite has undone the transaction.
    func checkTransaction() throws {
        guard !connection.isInTransaction else { return }
        throw undone ?? DatabaseError(.diskFull, "the storage undid the transaction this write was a part of; retry")
    }

    func beginPart() throws { try connection.statement(.savepoint).run() }

    func keepPart(_: Void) throws { try connection.statement(.release).run() }

    func undoPart(_: Void, after error: any Error) {
        if connection.isInTransaction { undoPart() }
        if !connection.isInTransaction, undone == nil { undone = error }
        forget()
    }

    private func undoPart() {
        do {
            try connection.statement(.rollbackToSavepoint).run()
            try connection.statement(.release).run()
        } catch {
            // If a savepoint can't be rolled back alone, the whole transaction is rolled back.
            try? connection.statement(.rollback).run()
        }
    }
}

// MARK: - Restore

extension SQLiteWriter {
    func restore(_ record: DocumentRecord) throws {
        guard try record.sequence > lastSequence else {
            throw DatabaseError(
                .invalid,
                "\"\(record.id)\" can't be restored at \(record.sequence), for there are changes up to \(try lastSequence)"
            )
        }
        nesting.changes += 1
        lastRead = nil
        try sealIfMany()
        let statement = try connection.statement(.insertRecord)
        try statement.lending(2, utf8: record.id.string) { try write(record, record.sequence, with: statement) }
        guard connection.changedRows == 1 else {
            throw DatabaseError(.conflict, "\"\(record.id)\" can't be restored, for it is there already")
        }
        newest = record.sequence
    }

    func restoreSequence(_ sequence: UpdateSequence) throws {
        let before = try lastSequence
        guard sequence >= before else {
            throw DatabaseError(.invalid, "the newest sequence is \(before) and can't become \(sequence)")
        }
        guard sequence > before else { return }
        try put(.setting(name: "last_sequence", value: sequence.description))
        newest = sequence
    }
}

// MARK: - Counts

extension SQLiteWriter {
    /// The maximum number of sequences of an open transaction that the sums don't have.
    private static let maximumUnsealedSequences: Int64 = 8192

    /// The last sealed sequence.
    func sealedSequence() throws -> Int64 {
        if let sealed { return sealed }
        let read = try sequenceCounts.sealed()
        sealed = read
        return read
    }

    /// Adds the documents of whole buckets to the sums.
    func sealCounts() throws {
        let (start, end) = try (sealedSequence(), sequenceCounts.lastEnd(through: lastSequence.number))
        guard start >= 0, end >= start else { return try rebuildCounts() }
        guard end > start else { return }
        let documents = try sequenceCounts.written(after: start, through: end)
        guard try sequenceCounts.remove(documents.compactMap { $0.counted?.sequence }) else {
            return try rebuildCounts()
        }
        guard try sequenceCounts.seal(from: start, through: end) else { return try rebuildCounts() }
        sealed = end
        guard try idCounts().update(documents.map { ($0.id, $0.difference) }) else { return try rebuildCounts() }
    }

    /// Seals if a transaction has changed many documents, so that the next such transaction has only few to read.
    func sealIfMany() throws {
        if try lastSequence.number &- sealedSequence() >= Self.maximumUnsealedSequences { try sealCounts() }
    }

    /// The counted state of a document before it is removed or gets another tree at the same sequence.
    func countedDocument(at sequence: UpdateSequence) throws -> CountedDocument? {
        try sequenceCounts.written(after: sequence.number - 1, through: sequence.number).first
    }

    /// Updates the sums for a document that was removed, or whose kind changed at the same sequence. `flags` is its
    /// new kind, or `nil` if it was removed.
    func recount(_ document: CountedDocument, now flags: RecordFlags?) throws {
        let isSealed = try document.sequence <= sealedSequence()
        let known =
            isSealed ? (sequence: document.sequence, kind: document.kind) : flags == nil ? document.counted : nil
        guard let known else { return }
        var difference = KindCounts()
        difference[known.kind] -= 1
        if let flags { difference[Int(flags.rawValue)] += 1 }
        let hadIt = try flags != nil || sequenceCounts.remove([known.sequence])
        if try !hadIt || !idCounts().update([(document.id, difference)]) { try rebuildCounts() }
    }

    /// Computes all sums from the documents.
    ///
    /// - Complexity: O(*n*).
    func rebuildCounts() throws {
        let end = try sequenceCounts.lastEnd(through: lastSequence.number)
        try connection.execute(
            "DELETE FROM sequence_counts; UPDATE documents SET counted = 0 WHERE sequence > \(end) AND counted <> 0")
        _ = try sequenceCounts.seal(from: 0, through: end)
        sealed = end
        try idCounts().rebuild()
    }
}
