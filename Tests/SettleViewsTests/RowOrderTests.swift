import Foundation
import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// The order of one document's rows with equal keys.
struct RowOrderTests {
    private static let view = MapIndex<Int, Int>("order", version: 1) { document, emit in
        for row in document["rows"]?.array ?? [] { emit(row[0]?.int ?? 0, row[1]?.int ?? 0) }
    }

    /// Documents with rows of few keys, so that many rows share one; the rows of one document fill several chunks.
    private static func rows(_ random: inout SeededRandom) -> [(id: String, rows: [(key: Int, value: Int)])] {
        (0..<6).map { number in
            let count = number == 3 ? 3000 : Int.random(in: 0...40, using: &random)
            let keys = number == 3 ? 1...2 : 0...3
            return (
                "d\(number)",
                (0..<count).map { _ in (Int.random(in: keys, using: &random), Int.random(in: 0...999, using: &random)) }
            )
        }
    }

    private static func save(_ documents: [(id: String, rows: [(key: Int, value: Int)])], in database: Database) throws
    {
        for (id, rows) in documents {
            let list = rows.map { row -> JSONValue in [.number(JSONNumber(row.key)), .number(JSONNumber(row.value))] }
            let revision = try database.document(DocumentID(stringLiteral: id))
            var document = revision ?? Document(id: DocumentID(stringLiteral: id))
            document["rows"] = .array(list)
            try database.save(document, onConflict: .fail)
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `rows are sorted by value in both directions, wherever a page begins`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let database = try Database.plain()
        for round in 0..<3 {
            let documents = Self.rows(&random)
            try Self.save(documents, in: database)
            let all = documents.flatMap { document in document.rows.map { ($0.key, document.id, $0.value) } }
            let up = all.sorted { $0 < $1 }
            let down = all.sorted { ($0.0, $0.1) == ($1.0, $1.1) ? $0.2 < $1.2 : ($0.0, $0.1) > ($1.0, $1.1) }
            for (range, expected) in [(MapIndexRange<Int>.all, up), (.all.reversed(), down)] {
                let found = try database.rows(of: Self.view, in: range)
                #expect(found.map(\.value) == expected.map(\.2), "round \(round)")
                #expect(found.map(\.id.string) == expected.map(\.1))
                for _ in 0..<20 {
                    let skip = Int.random(in: 0...all.count, using: &random)
                    let limit = Int.random(in: 0...700, using: &random)
                    let part = try database.rows(of: Self.view, in: range.dropFirst(skip).prefix(limit))
                    #expect(part.map(\.value) == expected.dropFirst(skip).prefix(limit).map(\.2), "\(skip), \(limit)")
                }
            }
        }
    }

    @Test func `an index of an earlier format is rebuilt`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/order.settle"
        for round in 1...2 {
            let database = try Database.openOrCreate(path)
            if round == 1 { try Self.save([("a", [(1, 3), (1, 1), (1, 2)])], in: database) }
            #expect(try database.rows(of: Self.view).map(\.value) == [1, 2, 3], "round \(round)")
            database.close()
            for file in try FileManager.default.contentsOfDirectory(atPath: path + "/views")
            where file.hasSuffix(".index") {
                // The previous format had the rows in the order in which they were emitted.
                let index = try SQLiteConnection(path: path + "/views/" + file)
                try index.execute("DELETE FROM directory; DELETE FROM chunks; PRAGMA user_version = 1;")
            }
        }
    }
}
