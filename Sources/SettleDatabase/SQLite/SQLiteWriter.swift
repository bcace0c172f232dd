internal import RevisionTree

/// Changes the file in the open transaction of the writing connection.
final class SQLiteWriter: SQLiteReader, StorageWriter {
    /// The newest sequence, those of the open transaction included.
    private var newest: UpdateSequence?

    override var lastSequence: UpdateSequence {
        get throws {
            if let newest { return newest }
            let sequence = try super.lastSequence
            newest = sequence
            return sequence
        }
    }

    /// Forgets what was cached of a transaction that was rolled back.
    func forget() { newest = nil }

    private func nextSequence() throws -> UpdateSequence {
        let (number, isPastEnd) = try lastSequence.number.addingReportingOverflow(1)
        guard !isPastEnd else { throw DatabaseError(.corrupt, "the newest sequence is past all numbers") }
        let next = UpdateSequence(number)
        newest = next
        return next
    }

    func put(_ record: DocumentRecord, replacing previous: UpdateSequence?) throws -> UpdateSequence {
        guard let content = record.content else {
            throw DatabaseError(.storage, "a record of \"\(record.id)\" was to be written without its content")
        }
        let sequence = try nextSequence()
        let statement = try connection.statement(previous == nil ? .insertRecord : .updateRecord)
        statement.bind(1, sequence.number)
        if let previous { statement.bind(7, previous.number) } else { statement.bind(2, utf8: record.id.string) }
        statement.bind(3, RecordFlags(record.tree).rawValue)
        statement.bind(4, record.tree.packed())
        statement.bind(5, Attachment.packed(content.attachments))
        statement.bind(6, content.body.utf8)
        try statement.run()
        return sequence
    }

    func updateTree(of record: DocumentRecord) throws {
        let statement = try connection.statement(.updateTree)
        statement.bind(1, record.sequence.number)
        statement.bind(2, record.tree.packed())
        try statement.run()
    }

    func remove(_ record: DocumentRecord) throws {
        let statement = try connection.statement(.removeRecord)
        statement.bind(1, record.sequence.number)
        try statement.run()
        try setSetting("last_sequence", to: nextSequence().description)
    }

    func putContent(_ content: RevisionContent) throws -> UInt64 {
        let statement = try connection.statement(.insertContent)
        statement.bind(1, Attachment.packed(content.attachments))
        statement.bind(2, content.body.utf8)
        try statement.run()
        return UInt64(connection.lastInsertedRow) + BodyToken.firstApart - 1
    }

    func removeContent(at token: UInt64) throws {
        guard let number = number(of: token) else { return }
        let statement = try connection.statement(.removeContent)
        statement.bind(1, number)
        try statement.run()
    }

    func put(_ document: LocalDocument) throws {
        let statement = try connection.statement(.putLocal)
        statement.bind(1, utf8: document.id.string)
        statement.bind(2, document.revisionNumber)
        statement.bind(3, document.body.utf8)
        try statement.run()
    }

    func removeLocalDocument(_ id: DocumentID) throws {
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
        let statement = try connection.statement(.removeBlob)
        statement.bind(1, digest.bytes)
        try statement.run()
    }

    func setExpiration(_ milliseconds: Int64?, of id: DocumentID) throws {
        let statement = try connection.statement(milliseconds == nil ? .removeExpiration : .putExpiration)
        statement.bind(1, utf8: id.string)
        if let milliseconds { statement.bind(2, milliseconds) }
        try statement.run()
    }

    func setSetting(_ name: String, to value: String?) throws {
        let statement = try connection.statement(value == nil ? .removeSetting : .putSetting)
        statement.bind(1, utf8: name)
        if let value { statement.bind(2, utf8: value) }
        try statement.run()
    }
}
