internal import SettleCore
internal import SettleDatabase

/// Queries one database in PostgreSQL.
///
/// Documents that ``prepare(_:withContent:)`` has fetched are at hand for the queries that follow.
class PostgresReader: SkippingReader {
    /// The number of the database.
    let database: Int64
    private let link: any PostgresLink
    private var prepared: [DocumentID: Prepared] = [:]

    /// A document that was fetched ahead; `nil` if it does not exist.
    private struct Prepared {
        let row: DocumentRow?
        let hasContent: Bool
    }

    init(_ database: Int64, _ link: any PostgresLink) { (self.database, self.link) = (database, link) }

    /// Sends queries in one round trip.
    ///
    /// - Throws: ``DatabaseError``.
    func ask(_ calls: [PostgresCall]) throws -> [PostgresResult] { try link.ask(calls) }

    /// The result of one query.
    func ask(_ statement: PostgresStatement, _ values: PostgresValue...) throws -> PostgresResult {
        guard let result = try ask([PostgresCall(statement, [.integer(database)] + values)]).first else {
            throw DatabaseError(.storage, "PostgreSQL gave no result")
        }
        return result
    }

    var lastSequence: UpdateSequence {
        get throws { UpdateSequence(try DatabaseState(ask(.state)).sequence) }
    }

    // MARK: - Documents

    /// The rows of some documents, in no particular order. A single document has its own statement: PostgreSQL
    /// plans a statement with an array at each use, which takes longer than finding one row.
    func rows(of ids: [DocumentID], withContent: Bool) throws -> [DocumentRow] {
        guard let first = ids.first else { return [] }
        let columns: PostgresStatement.Columns = withContent ? .whole : .head
        if ids.count == 1 { return try ask(.document(columns), .bytes(Array(first.string.utf8))).documents(columns) }
        let keys = PostgresValue.byteArrays(ids.map { Array($0.string.utf8) })
        return try ask(.documents(columns), keys).documents(columns)
    }

    func prepare(_ ids: [DocumentID], withContent: Bool) throws {
        let missing = ids.filter { prepared[$0].map { withContent && !$0.hasContent } ?? true }
        for id in missing { prepared[id] = Prepared(row: nil, hasContent: withContent) }
        for row in try rows(of: missing, withContent: withContent) {
            prepared[row.record.id] = Prepared(row: row, hasContent: withContent)
        }
    }

    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        if let known = prepared[id], known.hasContent || !withContent {
            guard var record = known.row?.record, !withContent else { return known.row?.record }
            record.content = nil
            return record
        }
        return try rows(of: [id], withContent: withContent).first?.record
    }

    func records(_ scan: DocumentScan, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        let columns: PostgresStatement.Columns = withContent ? .whole : .head
        let most = PostgresValue.integer(Int64(clamping: max(limit, 0)))
        switch scan.part {
        case .changes(let range):
            return try ask(
                .changes(columns, range.descending ? .descending : .ascending), .integer(range.after.number),
                .integer(range.through.number), most
            ).documents(columns, keepingDamagedIDs: true).map(\.record)
        case .documents(let range, let kind):
            let statement = PostgresStatement.range(columns, kind.part, range.descending ? .descending : .ascending)
            return try ask(statement, .bytes(range.low), .bytes(range.high), .short(kind.flag), most)
                .documents(columns).map(\.record)
        }
    }

    func page(of scan: DocumentScan, limit: Int) throws -> [DocumentID] {
        let most = PostgresValue.integer(Int64(clamping: max(limit, 0)))
        switch scan.part {
        case .changes: return try records(scan, limit: limit, withContent: false).map(\.id)
        case .documents(let range, let kind):
            let statement = PostgresStatement.range(.id, kind.part, range.descending ? .descending : .ascending)
            let result = try ask(statement, .bytes(range.low), .bytes(range.high), .short(kind.flag), most)
            return try result.map { row in
                guard let id = result.id(row, 0) else {
                    throw DatabaseError(.corrupt, "the id of a document is not UTF-8")
                }
                return id
            }
        }
    }

    func count(_ scan: DocumentScan) throws -> Int {
        switch scan.part {
        case .changes(let range):
            guard range.after < range.through else { return 0 }
            let newest = range.through.number
            let results = try ask([
                PostgresCall(.countChanges, [.integer(database), .integer(newest)]),
                PostgresCall(.countChanges, [.integer(database), .integer(max(range.after.number, 0))]),
            ])
            return max(0, Int(results[0].integer(0, 0) - results[1].integer(0, 0)))
        case .documents(let range, let kind):
            if range.low.isEmpty, range.high == DocumentRange.end {
                return kind.number(try countsByFlags)
            }
            return Int(
                try ask(.count(kind.part), .bytes(range.low), .bytes(range.high), .short(kind.flag)).integer(0, 0))
        }
    }

    /// The numbers of documents with each flag.
    var countsByFlags: [Int] {
        get throws {
            let sums = try ask(.countAll)
            return (0..<4).map { Int(sums.integer(0, $0)) }
        }
    }

    func live(at place: Int, in range: DocumentRange) throws -> DocumentID? {
        let result = try ask(
            .place(range.descending ? .descending : .ascending), .bytes(range.low), .bytes(range.high),
            .short(DocumentKind.live.flag), .integer(Int64(place)))
        return result.count == 0 ? nil : result.id(0, 0)
    }

    // MARK: - Contents

    private func storedContent(at token: UInt64) throws -> RevisionContent? {
        guard token >= BodyToken.firstApart, let number = Int64(exactly: token) else { return nil }
        let result = try ask(.contents, .integers([number]))
        guard result.count > 0 else { return nil }
        do {
            return try result.withBytes(0, 1) {
                try RevisionContent(storedAttachments: $0, body: result.bytes(0, 2))
            }
        } catch {
            throw DatabaseError(.damagedDocument, "content \(token) is damaged: \(error)", cause: error)
        }
    }

    private func contents(after token: UInt64, descending: Bool, _ most: PostgresValue) throws -> [SideRecord] {
        let order: PostgresStatement.Direction = descending ? .descending : .ascending
        let result = try ask(.contentTokens(order), .integer(Int64(clamping: token)), most)
        return result.map { .content(UInt64(max(result.integer($0, 0), 0)), nil) }
    }

    // MARK: - Side records

    func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? {
        switch key {
        case .blob(let digest): return try ask(.blobs, .byteArrays([digest.bytes])).blobs().first.map(SideRecord.blob)
        case .journal: return nil
        case .content(let token): return try storedContent(at: token).map { .content(token, $0) }
        default:
            guard let place = key.place else { return nil }
            return try ask(.records, .short(place.kind.rawValue), .byteArrays([place.key])).records(place.kind).first
        }
    }

    func sideRecords(_ scan: SideRecord.Scan, limit: Int) throws -> [SideRecord] {
        let most = PostgresValue.integer(Int64(clamping: max(limit, 0)))
        switch scan {
        case .locals(let id):
            return try ask(
                .recordsAfter, .short(RecordKind.local.rawValue), .bytes(id.map { Array($0.string.utf8) } ?? []), most
            ).records(.local)
        case .expirations(let time):
            return try ask(.recordsThrough, .integer(time), most).records(.expiration)
        case .blobs(let digest):
            return try ask(.blobsAfter, .bytes(digest?.bytes ?? []), most).blobs().map(SideRecord.blob)
        case .settings(let name):
            return try ask(
                .recordsAfter, .short(RecordKind.setting.rawValue), .bytes(name.map { Array($0.utf8) } ?? []), most
            ).records(.setting)
        case .expirationsByID(let id):
            return try ask(
                .recordsAfter, .short(RecordKind.expiration.rawValue), .bytes(id.map { Array($0.string.utf8) } ?? []),
                most
            ).records(.expiration)
        case .contents(let token): return try contents(after: token, descending: false, most)
        case .newestContents: return try contents(after: 0, descending: true, most)
        case .journal, .newestJournal: return []
        }
    }
}

extension PostgresCall {
    init(_ statement: PostgresStatement, _ values: [PostgresValue]) {
        (self.statement, self.values) = (statement, values)
    }
}

// MARK: - Maintenance

extension PostgresReader {
    /// Performs a maintenance task. It only reads, because PostgreSQL itself frees space.
    func report(on task: MaintenanceTask) throws -> MaintenanceReport {
        var report = MaintenanceReport()
        switch task {
        case .reclaimSpace: report.isDurable = true
        case .check:
            for (statement, problem) in [
                (PostgresStatement.wrongFlags, "rows have flags, sequences or digests that never were"),
                (.wrongCounts, "kept counts are not what the documents add up to"),
                (.sumsAtOdds, "sums of kept counts are not what the counts add up to"),
            ] {
                // Each reads all rows of the database.
                let results = try ask([PostgresCall(.allowLong), PostgresCall(statement, [.integer(database)])])
                let count = results[1].integer(0, 0)
                if count > 0 { report.problems.append("\(count) \(problem)") }
            }
        case .measure:
            let results = try ask([.size, .countAll].map { PostgresCall($0, [.integer(database)]) })
            report.bytes = results[0].integer(0, 0) * (0..<4).reduce(0) { $0 + results[1].integer(0, $1) }
        case .weigh:
            let sums = try ask(.weigh)
            report.payload = StoragePayload(
                winners: sums.integer(0, 0), apart: sums.integer(0, 1), attachments: sums.integer(0, 2),
                attachmentFiles: sums.integer(0, 3))
        }
        return report
    }
}

// MARK: - DocumentRow

/// A stored document with the number of its edition, which increases when only the tree changes and the sequence
/// stays.
struct DocumentRow {
    var record: DocumentRecord
    let edition: Int64
}

extension PostgresResult {
    /// The id in a column; `nil` for one that is not UTF-8.
    func id(_ row: Int, _ column: Int) -> DocumentID? {
        String(validating: bytes(row, column), as: UTF8.self).map { DocumentID(unchecked: $0) }
    }

    /// The documents of a result with these columns. Documents with damaged ids are left out, or have no revisions.
    func documents(_ columns: PostgresStatement.Columns, keepingDamagedIDs: Bool = false) -> [DocumentRow] {
        (0..<count).compactMap { row in
            let sequence = UpdateSequence(integer(row, 1))
            guard let id = id(row, 0) else {
                guard keepingDamagedIDs else { return nil }
                return DocumentRow(record: DocumentRecord(damagedID: text(row, 0), sequence), edition: 0)
            }
            var record = withBytes(row, 3) { DocumentRecord(id: id, sequence: sequence, storedTree: $0) }
            if columns == .whole {
                withBytes(row, 4) { record.readContent(attachments: $0, body: bytes(row, 5)) }
            }
            return DocumentRow(record: record, edition: integer(row, 2))
        }
    }
}

extension DocumentKind {
    /// The variant of the statement for documents of this kind.
    var part: PostgresStatement.Kind {
        switch self {
        case .any: .any
        case .live: .live
        case .flagged: .flagged
        }
    }

    /// The flag that the statement compares.
    var flag: Int16 {
        switch self {
        case .any: 0
        case .live: Int16(RecordFlags.deleted.rawValue)
        case .flagged(let flags): Int16(flags.rawValue)
        }
    }

    /// The number of documents of this kind, given the numbers for each flag.
    func number(_ counts: [Int]) -> Int {
        switch self {
        case .any: counts.reduce(0, +)
        case .live: counts.reduce(0, +) - counts[Int(RecordFlags.deleted.rawValue)]
        case .flagged(let flags): counts[Int(flags.rawValue)]
        }
    }
}
