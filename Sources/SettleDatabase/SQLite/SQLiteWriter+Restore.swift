internal import SettleCore

extension SQLiteWriter {
    func restore(_ record: DocumentRecord) throws {
        guard try record.sequence > lastSequence else {
            throw DatabaseError(
                .invalid,
                "\"\(record.id)\" can't be restored at \(record.sequence), for there are changes up to \(try lastSequence)"
            )
        }
        changes += 1
        lastRead = nil
        try sealIfMany()
        let statement = try connection.statement(.insertRecord)
        statement.bind(2, utf8: record.id.string)
        try write(record, record.sequence, with: statement)
        guard connection.changedRows == 1 else {
            throw DatabaseError(.conflict, "\"\(record.id)\" can't be restored, for it is there already")
        }
        newest = record.sequence
    }

    func restoreContent(_ content: RevisionContent, at token: UInt64) throws {
        guard let number = number(of: token) else {
            throw DatabaseError(.invalid, "no content can have the token \(token)")
        }
        changes += 1
        let statement = try connection.statement(.restoreContent)
        statement.bind(1, number)
        statement.bind(2, content.storedAttachments)
        try statement.run(lending: (3, content.body.utf8))
        guard connection.changedRows == 1 else {
            throw DatabaseError(.conflict, "there is a content with the token \(token) already")
        }
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
