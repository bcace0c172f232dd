internal import SettleCore
internal import SettleDatabase

/// A document as it is stored, with the number of its edition: each change of the tree alone, at the same sequence, raises that.
struct DocumentRow {
    var record: DocumentRecord
    let edition: Int64
}

extension PostgresResult {
    /// The id in a column; `nil` for one that is not UTF-8.
    func id(_ row: Int, _ column: Int) -> DocumentID? {
        String(validating: bytes(row, column), as: UTF8.self).map { DocumentID(unchecked: $0) }
    }

    /// The documents of a result with the given columns. Those with damaged ids are left out, or have no revisions.
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
    /// The part of the statement that chooses documents of this kind.
    var part: PostgresStatement.Kind {
        switch self {
        case .any: .any
        case .live: .live
        case .flagged: .flagged
        }
    }

    /// The flag that the statement compares with.
    var flag: Int16 {
        switch self {
        case .any: 0
        case .live: Int16(RecordFlags.deleted.rawValue)
        case .flagged(let flags): Int16(flags.rawValue)
        }
    }

    /// How many documents are of this kind, given the numbers for each flag.
    func number(_ counts: [Int]) -> Int {
        switch self {
        case .any: counts.reduce(0, +)
        case .live: counts.reduce(0, +) - counts[Int(RecordFlags.deleted.rawValue)]
        case .flagged(let flags): counts[Int(flags.rawValue)]
        }
    }
}
