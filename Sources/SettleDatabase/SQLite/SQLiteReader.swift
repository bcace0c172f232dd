internal import SettleCore

/// Reads through one connection.
class SQLiteReader: SkippingReader {
    let connection: SQLiteConnection
    let sizes: CountSizes
    /// Whether a snapshot could not be ended. The reader must not be used again then.
    private(set) var isStale = false

    init(_ connection: SQLiteConnection, _ sizes: CountSizes = CountSizes()) {
        self.connection = connection
        self.sizes = sizes
    }

    var lastSequence: UpdateSequence {
        get throws {
            let newest = try connection.statement(.newestSequence).first { $0.integer(0) } ?? 0
            return UpdateSequence(max(newest, try setting("last_sequence").flatMap { Int64($0) } ?? 0))
        }
    }

    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        let statement = try connection.statement(withContent ? .recordOfID : .headOfID)
        statement.bind(1, utf8: id.string)
        return try statement.first { record($0, id: id, withContent: withContent) }
    }

    /// A document with the winner's content, if its parts are short.
    ///
    /// - Throws: ``NotAtHand`` for a longer one.
    func shortRecord(of id: DocumentID, maximumBytes: Int) throws -> DocumentRecord? {
        let statement = try connection.statement(.shortRecordOfID)
        statement.bind(1, utf8: id.string)
        statement.bind(2, Int64(maximumBytes))
        return try statement.first { row in
            guard row.integer(5) <= Int64(maximumBytes) else { throw NotAtHand() }
            return record(row, id: id, withContent: true)
        }
    }

    /// The content of a revision with a token.
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

    /// The tokens of separately stored contents that are higher than a token, ascending; or the highest ones,
    /// descending.
    func contentTokens(after token: UInt64, descending: Bool, limit: Int) throws -> [UInt64] {
        let statement = try connection.statement(descending ? .newestContentTokens : .contentTokens)
        statement.bind(1, token < BodyToken.firstApart ? 0 : number(of: token) ?? .max)
        statement.bind(2, Int64(limit))
        return try statement.all(by: \.self, beyond: descending ? nil : token, descending: descending) {
            guard let number = UInt64(exactly: $0.integer(0)) else { throw SQLiteError.outOfOrder }
            return number + BodyToken.firstApart - 1
        }
    }

    func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        let (range, kind): (DocumentRange, DocumentKind)
        switch scan.part {
        case .changes(let range): return try records(changedIn: range, limit: limit, withContent: withContent)
        case .documents(let found, let of): (range, kind) = (found, of)
        }
        let columns = "sequence, id, tree" + (withContent ? ", attachments, body" : "")
        // Rows with a damaged id do not count, so the limit of a page is applied here and not by SQLite.
        let order = "ORDER BY id \(range.descending ? "DESC" : "ASC")"
        let statement = try statement("SELECT \(columns)", in: range, kind, order)
        var bytes = 0
        func readRow(_ row: SQLiteStatement) -> DocumentRecord? {
            guard let id = try? row.id(1) else { return nil }
            let record = record(row, id: id, withContent: withContent)
            bytes += record.contentLength
            return record
        }
        return try statement.all(
            limit: limit, until: { bytes >= PageSize.maximumBytes }, by: \.id,
            beyond: range.descending ? range.before : range.after, descending: range.descending, readRow)
    }

    func page(of scan: DocumentScan, limit: Int) throws -> [DocumentID] {
        let (range, kind): (DocumentRange, DocumentKind)
        switch scan.part {
        case .changes(let range): return try records(changedIn: range, limit: limit, withContent: false).map(\.id)
        case .documents(let found, let of): (range, kind) = (found, of)
        }
        let order = "ORDER BY id \(range.descending ? "DESC" : "ASC")"
        return try statement("SELECT id", in: range, kind, order).all(
            limit: limit, by: \.self, beyond: range.descending ? range.before : range.after,
            descending: range.descending
        ) { try $0.id(0) }
    }

    func count(_ scan: DocumentScan) throws -> Int {
        try prepareCounts()
        let number =
            switch scan.part {
            case .changes(let range): try sequenceCounts.count(in: range)
            case .documents(let range, let kind): try idCounts().count(kind, from: range.low, to: range.high)
            }
        return Int(min(max(number, 0), CountSizes.maximum))
    }

    /// The id of a live document by its place, from the sums.
    func live(at place: Int, in range: DocumentRange) throws -> DocumentID? {
        try prepareCounts()
        let counts = try idCounts()
        let inside = try counts.count(.live, from: range.low, to: range.high)
        guard place >= 0, place < inside else { return nil }
        let before = try counts.count(.live, from: [], to: range.low)
        return try counts.liveID(at: before &+ (range.descending ? inside - 1 - Int64(place) : Int64(place)))
    }

    /// Brings the sums up to date before they are read. A reader finds them so.
    func prepareCounts() throws {}

    private func records(changedIn range: SequenceRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
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
        // Callers continue after the last row, so an index that leads back in a damaged file would cause an endless
        // loop.
        var last = range.descending ? Int64.max : range.after.number
        var bytes = 0
        func readRow(_ row: SQLiteStatement) throws -> DocumentRecord? {
            let sequence = row.integer(0)
            guard range.descending ? sequence < last : sequence > last else { throw SQLiteError.outOfOrder }
            last = sequence
            guard let id = try? row.id(1) else {
                return DocumentRecord(damagedID: row.string(1), UpdateSequence(sequence))
            }
            let record = record(row, id: id, withContent: withContent)
            bytes += record.contentLength
            return record
        }
        return try statement.all(expecting: limit, until: { bytes >= PageSize.maximumBytes }, readRow)
    }

    func setting(_ name: String) throws -> String? {
        let statement = try connection.statement(.setting)
        statement.bind(1, utf8: name)
        return try statement.first { $0.string(0) }
    }
}

extension SQLiteReader {
    var sequenceCounts: SequenceCounts { SequenceCounts(connection: connection, sizes: sizes) }

    func idCounts() throws -> IDCounts {
        try IDCounts(connection: connection, sizes: sizes, sealed: sequenceCounts.sealed())
    }

    /// Ends a snapshot. If that fails, the data that was read stays valid, and the pool closes the connection,
    /// which would still see the old state.
    func endSnapshot() {
        do { try connection.statement(.commit).run() } catch { isStale = true }
    }

    /// The row number of a separately stored content; `nil` for an invalid token.
    func number(of token: UInt64) -> Int64? {
        token >= BodyToken.firstApart ? Int64(exactly: token - BodyToken.firstApart + 1) : nil
    }

    /// Prepares a statement about documents of one kind with ids in a range.
    private func statement(
        _ select: String, in range: DocumentRange, _ kind: DocumentKind, _ order: String
    ) throws -> SQLiteStatement {
        let bounds = [(">=", range.from), (">", range.after), ("<=", range.through), ("<", range.before)]
        let used = bounds.filter { $0.1 != nil }
        let flags: [String]
        switch kind {
        case .any: flags = []
        case .live: flags = ["flags <> \(RecordFlags.deleted.rawValue)"]
        // The index has only flags above zero, and SQLite uses it only if the condition contains the same term.
        case .flagged(let one): flags = ["flags = \(one.rawValue)", "flags > 0"]
        }
        let conditions = flags + used.enumerated().map { "id \($0.element.0) ?\($0.offset + 1)" }
        let condition = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
        let statement = try connection.statement("\(select) FROM documents \(condition) \(order)")
        for (index, bound) in used.enumerated() { statement.bind(Int32(index + 1), utf8: bound.1?.string) }
        return statement
    }

    private func record(_ row: SQLiteStatement, id: DocumentID, withContent: Bool) -> DocumentRecord {
        var record = row.withBytes(2) {
            DocumentRecord(id: id, sequence: UpdateSequence(row.integer(0)), storedTree: $0)
        }
        guard withContent else { return record }
        row.withBytes(3) { record.readContent(attachments: $0, body: row.bytes(4)) }
        return record
    }

    private func content(_ row: SQLiteStatement, attachments: Int32, body: Int32) throws -> RevisionContent {
        try row.withBytes(attachments) { try RevisionContent(storedAttachments: $0, body: row.bytes(body)) }
    }
}

// MARK: - Maintenance

extension SQLiteReader {
    /// Performs a task that only reads.
    func report(on task: MaintenanceTask) throws -> MaintenanceReport {
        var report = MaintenanceReport()
        switch task {
        case .reclaimSpace: break
        case .check: report.problems = try problems()
        case .measure:
            let size = try connection.integer("PRAGMA page_size") ?? 0
            report.bytes = try (connection.integer("PRAGMA page_count") ?? 0) * size
            report.freeBytes = try (connection.integer("PRAGMA freelist_count") ?? 0) * size
        case .weigh: report.payload = try payload()
        }
        return report
    }

    private func problems() throws -> [String] {
        let rows = try SQLiteStatement("PRAGMA integrity_check(100)", on: connection).all { $0.string(0) }
        let odd = try [
            ("documents WHERE flags NOT IN (0, 1, 2, 3)", "documents have flags that never were"),
            ("blobs WHERE typeof(digest) <> 'blob' OR length(digest) <> 32", "attachment contents have no digest"),
        ].compactMap { rows, problem -> String? in
            let count = try connection.integer("SELECT count(*) FROM \(rows)") ?? 0
            return count == 0 ? nil : "\(count) \(problem)"
        }
        let wrong = try wrongCounts()
        let counts =
            wrong == 0 ? [] : ["\(wrong) kept counts are not what the documents add up to; compact makes them anew"]
        return (rows == ["ok"] ? [] : rows) + odd + counts
    }

    private func payload() throws -> StoragePayload {
        func sum(_ values: String) throws -> Int64 {
            try connection.integer("SELECT ifnull((SELECT sum\(values)), 0)") ?? 0
        }
        // SQLite knows the length of a value without reading it.
        return StoragePayload(
            winners: try sum("(length(body)) FROM documents"),
            apart: try sum("(length(body) + ifnull(length(attachments), 0)) FROM contents"),
            attachments: try sum("(length) FROM blobs"),
            attachmentFiles: try sum("(length) FROM blobs WHERE content IS NULL"))
    }
}

// MARK: - Count Check

extension SQLiteReader {
    /// The number of sums that differ from the actual number of documents, compared in one state of the file.
    ///
    /// A document that was written after the last sealed sequence is in the sums with the state that its row
    /// records.
    ///
    /// - Complexity: O(*n* log *n*).
    func wrongCounts() throws -> Int64 {
        try connection.integer(
            """
            WITH last(sealed) AS (
                SELECT ifnull((SELECT documents FROM sequence_counts WHERE level = -1 AND bucket = 0), 0)),
            counted(id, sequence, kind) AS (
                SELECT id, iif(sequence <= sealed, sequence, counted >> 2), iif(sequence <= sealed, flags, counted) & 3
                FROM documents, last WHERE sequence <= sealed OR counted > 0),
            kept AS (
                SELECT 'sequences', level, bucket, documents, 0, 0, 0 FROM sequence_counts WHERE level >= 0
                UNION ALL
                SELECT 'ids', level, first, plain, deleted, conflicted, contested FROM id_counts
                WHERE plain <> 0 OR deleted <> 0 OR conflicted <> 0 OR contested <> 0),
            expected AS (
                SELECT 'sequences', 0, sequence - 1 >> \(sizes.bits), count(*), 0, 0, 0 FROM counted GROUP BY 3
                UNION ALL
                SELECT 'sequences', level + 1, bucket >> \(sizes.bits), \(SQL.sum("documents")), 0, 0, 0
                FROM sequence_counts, last
                WHERE level BETWEEN 0 AND 6 AND bucket >> \(sizes.bits) < sealed >> \(sizes.bits) * (level + 2)
                GROUP BY 2, 3
                UNION ALL
                SELECT 'ids', 0, \(Self.range(level: "0", of: "id")),
                    sum(kind = 0), sum(kind = 1), sum(kind = 2), sum(kind = 3) FROM counted GROUP BY 3
                UNION ALL
                SELECT 'ids', level + 1, \(Self.range(level: "part.level + 1", of: "part.first")),
                    \(SQL.kindSums) FROM id_counts AS part
                WHERE level < (SELECT max(level) FROM id_counts) GROUP BY 2, 3
                HAVING total(plain) + total(deleted) + total(conflicted) + total(contested) <> 0)
            SELECT count(*) FROM (
                SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM expected)
                UNION ALL SELECT * FROM (SELECT * FROM expected EXCEPT SELECT * FROM kept))
            """) ?? 0
    }

    /// The start of the range of a level that contains a key.
    private static func range(level: String, of key: String) -> String {
        """
        (SELECT found.first FROM id_counts AS found WHERE found.level = \(level) AND found.first <= \(key)
            ORDER BY found.first DESC LIMIT 1)
        """
    }
}
