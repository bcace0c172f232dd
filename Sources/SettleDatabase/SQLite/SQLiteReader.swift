internal import SettleCore

/// Answers questions from one connection.
class SQLiteReader: StorageReader {
    let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    var lastSequence: UpdateSequence {
        get throws {
            let newest = try connection.statement(.newestSequence).first { $0.integer(0) } ?? 0
            return UpdateSequence(max(newest, try setting("last_sequence").flatMap { Int64($0) } ?? 0))
        }
    }

    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        let statement = try connection.statement(withContent ? .recordOfID : .headOfID)
        statement.bind(1, utf8: id.string)
        return try statement.first { try record($0, id: id, withContent: withContent) }
    }

    func shortRecord(of id: DocumentID, mostBytes: Int) throws -> DocumentRecord? {
        let statement = try connection.statement(.shortRecordOfID)
        statement.bind(1, utf8: id.string)
        statement.bind(2, Int64(mostBytes))
        return try statement.first { row in
            guard row.integer(5) <= Int64(mostBytes) else { throw NotAtHand() }
            return try record(row, id: id, withContent: true)
        }
    }

    func content(at token: UInt64) throws -> RevisionContent? {
        guard let number = number(of: token) else { return nil }
        let statement = try connection.statement(.content)
        statement.bind(1, number)
        return try statement.first { row in
            do { return try content(row, attachments: 0, body: 1) } catch let error as DamagedAttachments {
                throw DatabaseError(
                    .damagedDocument, "content \(number) is damaged: \(error)", cause: error)
            }
        }
    }

    func contentTokens(after token: UInt64, limit: Int) throws -> [UInt64] {
        let statement = try connection.statement(.contentTokens)
        statement.bind(1, token < BodyToken.firstApart ? 0 : number(of: token) ?? .max)
        statement.bind(2, Int64(limit))
        return try statement.all(by: \.self, beyond: token) {
            guard let number = UInt64(exactly: $0.integer(0)) else { throw SQLiteError.outOfOrder }
            return number + BodyToken.firstApart - 1
        }
    }

    func records(changedIn range: SequenceRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        let statement: SQLiteStatement
        switch (withContent, range.descending) {
        case (true, false): statement = try connection.statement(.recordsBySequence)
        case (true, true): statement = try connection.statement(.recordsBySequenceDescending)
        case (false, false): statement = try connection.statement(.headsBySequence)
        case (false, true): statement = try connection.statement(.headsBySequenceDescending)
        }
        statement.bind(1, range.after.number)
        statement.bind(2, range.through.number)
        statement.bind(3, Int64(limit))
        // Callers go on from the last row, so a damaged file that leads back would send them in circles.
        var last = range.descending ? Int64.max : range.after.number
        return try statement.all(expecting: limit) { row in
            let sequence = row.integer(0)
            guard range.descending ? sequence < last : sequence > last else { throw SQLiteError.outOfOrder }
            last = sequence
            guard let id = try? row.id(1) else { return DocumentRecord(withoutID: row.string(1), sequence) }
            return try record(row, id: id, withContent: withContent)
        }
    }

    func records(in range: DocumentRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        let columns = "sequence, id, tree" + (withContent ? ", attachments, body" : "")
        // Rows whose id is damaged do not count, so it is not SQLite that ends the page.
        let order = "ORDER BY id \(range.descending ? "DESC" : "ASC")"
        let statement = try statement("SELECT \(columns) FROM documents", in: range, and: [], order)
        return try statement.all(
            limit: limit, by: \.id, beyond: range.descending ? range.before : range.after,
            descending: range.descending
        ) { row in
            guard let id = try? row.id(1) else { return nil }
            return try record(row, id: id, withContent: withContent)
        }
    }

    func conflictedIDs(_ kind: ConflictKind, after id: DocumentID?, limit: Int) throws -> [DocumentID] {
        let statement = try connection.statement(.conflictedIDs)
        statement.bind(1, utf8: id?.string ?? "")
        statement.bind(2, Int64(limit))
        statement.bind(3, RecordFlags(kind).rawValue)
        return try statement.all(by: \.self, beyond: id) { try $0.id(0) }
    }

    func counts() throws -> DocumentCounts {
        let all = try connection.statement(.countAll).first { $0.integer(0) } ?? 0
        let deleted = try connection.statement(.countDeleted).first { $0.integer(0) } ?? 0
        return DocumentCounts(live: Int(all - deleted), deleted: Int(deleted))
    }

    func setting(_ name: String) throws -> String? {
        let statement = try connection.statement(.setting)
        statement.bind(1, utf8: name)
        return try statement.first { $0.string(0) }
    }
}

extension SQLiteReader {
    /// The row number of a content kept apart; `nil` for an invalid token.
    func number(of token: UInt64) -> Int64? {
        token >= BodyToken.firstApart ? Int64(exactly: token - BodyToken.firstApart + 1) : nil
    }

    /// A statement about documents whose ids are in a range.
    private func statement(
        _ select: String, in range: DocumentRange, and others: [String], _ rest: String = ""
    ) throws -> SQLiteStatement {
        let bounds = [(">=", range.from), (">", range.after), ("<=", range.through), ("<", range.before)]
        let used = bounds.filter { $0.1 != nil }
        let conditions = others + used.enumerated().map { "id \($0.element.0) ?\($0.offset + 1)" }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let statement = try SQLiteStatement("\(select) \(condition) \(rest)", on: connection)
        for (index, bound) in used.enumerated() { statement.bind(Int32(index + 1), utf8: bound.1?.string) }
        return statement
    }

    /// Both counts are answered from an index alone.
    func countLive(in range: DocumentRange) throws -> Int {
        let select = "SELECT count(*) FROM documents"
        let all = try statement(select, in: range, and: []).first { $0.integer(0) } ?? 0
        let isDeleted = ["flags = \(RecordFlags.deleted.rawValue)", "flags > 0"]
        let deleted = try statement(select, in: range, and: isDeleted).first { $0.integer(0) } ?? 0
        return Int(all - deleted)
    }

    func count(changedIn range: SequenceRange) throws -> Int {
        let statement = try connection.statement(.countChanges)
        statement.bind(1, range.after.number)
        statement.bind(2, range.through.number)
        return Int(try statement.first { $0.integer(0) } ?? 0)
    }

    private func record(_ row: SQLiteStatement, id: DocumentID, withContent: Bool) throws -> DocumentRecord {
        var record = DocumentRecord(
            id: id, sequence: UpdateSequence(row.integer(0)), tree: RevisionTree(), content: nil)
        let tree = row.withBytes(2) { bytes in
            Result { () throws(RevisionTreeError) in try RevisionTree(packed: bytes) }
        }
        switch tree {
        case .failure(let error): record.damage = .damaged(id, "its revision tree", cause: error)
        case .success(let tree):
            record.tree = tree
            if tree.isEmpty {
                let reason = DatabaseError(.corrupt, "it has no revision")
                record.damage = .damaged(id, "its revision tree", cause: reason)
            }
        }
        guard withContent else { return record }
        do { record.content = try content(row, attachments: 3, body: 4) } catch let error as DamagedAttachments {
            if record.damage == nil { record.damage = .damaged(id, "its content", cause: error) }
        }
        return record
    }

    private func content(_ row: SQLiteStatement, attachments: Int32, body: Int32) throws -> RevisionContent {
        let list = row.isNull(attachments) ? [] : try Attachment.unpack(row.bytes(attachments))
        return RevisionContent(body: DocumentBody(unchecked: row.bytes(body)), attachments: list)
    }
}

extension DocumentRecord {
    /// A row whose id is damaged. It has no revisions, so that nobody takes it for a document.
    fileprivate init(withoutID text: String, _ sequence: Int64) {
        self.init(
            id: DocumentID(unchecked: text.isEmpty ? "?" : text), sequence: UpdateSequence(sequence),
            tree: RevisionTree(), content: nil)
        damage = DatabaseError(
            .damagedDocument, "the document at position \(sequence) of the changes is damaged: its id is not UTF-8")
    }
}
