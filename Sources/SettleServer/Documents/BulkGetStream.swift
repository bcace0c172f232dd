internal import RevisionTree
internal import SettleDatabase

/// Sends the documents `_bulk_get` asks for, one after the other.
final class BulkGetStream: ResponseStream {
    private let database: Database
    private let rows: [BulkGetRow]
    private let options: DocumentOptions
    private let place = Guarded(0)

    init(database: Database, rows: [BulkGetRow], options: DocumentOptions) {
        self.database = database
        self.rows = rows
        self.options = options
    }

    func next() throws -> ResponseStep {
        try place.withLock { place in
            guard place <= rows.count else { return .end }
            var bytes: [UInt8] = []
            if place == 0 { bytes += Array("{\"results\": [".utf8) }
            while place < rows.count, bytes.count < 64 * 1024 {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += try answer(rows[place])
                place += 1
            }
            if place == rows.count {
                bytes += Array("]}\n".utf8)
                place += 1
            }
            return .piece(bytes)
        }
    }

    private func answer(_ row: BulkGetRow) throws -> [UInt8] {
        var bytes = Array("{\"id\":".utf8)
        row.name.append(to: &bytes)
        bytes += Array(",\"docs\":[".utf8)
        if let problem = row.problem {
            bytes += failure(row, row.badRevision, problem)
        } else if let id = row.id {
            bytes += try answers(row, id).joined(separator: [UInt8(ascii: ",")])
        }
        bytes += Array("]}".utf8)
        return bytes
    }

    private func answers(_ row: BulkGetRow, _ id: DocumentID) throws -> [[UInt8]] {
        var options = options
        if let since = row.attachmentsSince { (options.attachmentsSince, options.hasAttachments) = (since, true) }
        let printer = DocumentPrinter(database: database, options: options)
        let wanted: DocumentOptions.OpenRevisions = row.revision.map { .some([$0]) } ?? .all
        let results = try DocumentLookup(database: database).open(wanted, of: id, isLatest: options.isLatest)
        if results.isEmpty { return [failure(row, "undefined", .missing)] }
        return try results.map { result in
            switch result {
            case .success(let found):
                let document = try printer.print(found.revision, found.content, of: found.record, hasMeta: false)
                return Array("{\"ok\":".utf8) + document.bytes + [UInt8(ascii: "}")]
            case .failure(let missing): return failure(row, missing.revision, .missing)
            }
        }
    }

    private func failure(_ row: BulkGetRow, _ revision: String?, _ error: HTTPError) -> [UInt8] {
        let told: JSON = [
            "error": [
                "id": row.name, "rev": revision.map(JSON.string) ?? .null, "error": .string(error.error),
                "reason": .string(error.reason),
            ]
        ]
        return told.utf8
    }
}
