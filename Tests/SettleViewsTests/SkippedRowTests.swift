import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase
@testable import SettleViews

/// Rows that a query skips: which ones, and that their chunks are not read.
struct SkippedRowTests {
    private static let view = MapIndex<Int, String>("skipped", version: 1) { document, emit in
        emit(document["n"]?.int ?? 0, String(repeating: "x", count: 200))
    }

    /// Makes an index of 600 rows in many chunks, with some keys in several rows.
    private static func makeIndex(_ folder: TemporaryFolder, _ generator: inout SeededRandom) throws -> String {
        let database = try Database.create(folder.path + "/rows.settle")
        try database.transaction {
            for number in 0..<600 {
                let n = JSONNumber(Int.random(in: 0..<300, using: &generator))
                try database.save(
                    Document(id: DocumentID(stringLiteral: "r\(number)"), body: ["n": .number(n)]), onConflict: .fail)
            }
        }
        #expect(try database.count(of: view) == 600)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/rows.settle/views")
        return folder.path + "/rows.settle/views/" + (try #require(files.first { $0.hasSuffix(".index") }))
    }

    private static func rows(
        _ reader: IndexReader, _ range: RowRange, skip: Int = 0, limit: Int = .max
    ) throws -> [[UInt8]] {
        try reader.snapshot { reader in
            try IndexReading(reader: reader, definitions: [ViewDefinition(reducers: [])], sequence: 0)
                .rows(0, in: range, skip: skip, limit: limit).map { Array($0.position) }
        }
    }

    @Test(arguments: 1...6) func `a skip gives the rows that remain of all rows`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        let reader = try IndexReader(Self.makeIndex(folder, &generator))
        func bound() -> JSONValue? {
            Bool.random(using: &generator)
                ? .number(JSONNumber(Int.random(in: -5..<305, using: &generator))) : nil
        }
        for _ in 0..<100 {
            let descending = Bool.random(using: &generator)
            let range = RowRange(
                start: bound(), end: bound(), includesEnd: Bool.random(using: &generator), descending: descending)
            let skip = Int.random(in: 0..<650, using: &generator)
            let limit = Int.random(in: 0..<100, using: &generator)
            let expected = try Self.rows(reader, range).dropFirst(skip).prefix(limit)
            let found = try Self.rows(reader, range, skip: skip, limit: limit)
            #expect(found == Array(expected), "seed \(seed), skip \(skip), limit \(limit), \(range)")
        }
    }

    @Test(arguments: [false, true]) func `chunks of skipped rows are not read`(descending: Bool) throws {
        var generator = SeededRandom(seed: 7)
        let folder = try TemporaryFolder()
        let path = try Self.makeIndex(folder, &generator)
        let range = RowRange(descending: descending)
        let last = try Self.rows(IndexReader(path), range).suffix(10)
        // Without the rows of all chunks but the last one in reading direction.
        let order = descending ? "first" : "first DESC"
        let connection = try SQLiteConnection(path: path)
        try connection.execute(
            "DELETE FROM chunks WHERE number <> (SELECT number FROM directory ORDER BY \(order) LIMIT 1)")
        #expect(try Self.rows(IndexReader(path), range, skip: 590) == Array(last))
    }
}
