internal import RevisionTree
internal import SettleDatabase

/// Sends the documents `_bulk_get` asks for as JSON, one after the other.
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
        bytes += try answers(row).joined(separator: [UInt8(ascii: ",")])
        bytes += Array("]}".utf8)
        return bytes
    }

    private func answers(_ row: BulkGetRow) throws -> [[UInt8]] {
        if let problem = row.problem { return [told(row.failure(row.badRevision, problem))] }
        let options = row.options(options)
        let printer = DocumentPrinter(database: database, options: options)
        let results = try row.results(in: database, options)
        if results.isEmpty { return [told(row.failure("undefined", .missing))] }
        return try results.map { result in
            switch result {
            case .success(let found):
                let document = try printer.print(found.revision, found.content, of: found.record, hasMeta: false)
                return Array("{\"ok\":".utf8) + document.bytes + [UInt8(ascii: "}")]
            case .failure(let missing): return told(row.failure(.string(missing.revision), .missing))
            }
        }
    }

    private func told(_ failure: JSON) -> [UInt8] {
        let value: JSON = ["error": failure]
        return value.utf8
    }
}
