import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase
@testable import SettleViews

/// The number of rows before a position, from the stored counts of chunks and by counting.
struct ChunkCountTests {
    @Test(arguments: 1...6) func `stored counts equal computed counts`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        let database = try Database.create(folder.path + "/rows.settle")
        let view = View<Int, String>("rows", version: 1) { document, emit in
            emit(document["n"]?.int ?? 0, String(repeating: "x", count: 200))
        }
        for round in 0..<3 {
            try database.transaction {
                for number in 0..<300 {
                    let id = DocumentID(stringLiteral: "r\(round)-\(number)")
                    let n = JSONNumber(Int.random(in: 0..<500, using: &generator))
                    try database.save(Document(id: id, body: ["n": .number(n)]), onConflict: .fail)
                }
            }
            #expect(try database.count(of: view) == (round + 1) * 300)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/rows.settle/views")
        let path = folder.path + "/rows.settle/views/" + (try #require(files.first { $0.hasSuffix(".index") }))
        let kept = try IndexReader(path)
        let added = try IndexReader(path, mostCounts: 2)
        #expect(try kept.snapshot { try $0.count(0) } == 900)
        #expect(try added.snapshot { try $0.count(0) } == 900)
        for _ in 0..<200 {
            let key = JSON.number(JSONNumber(Int.random(in: -10..<510, using: &generator)))
            let position = RowPosition.from(key: SortKey.of(key), id: nil)
            let counts = try [kept, added].map { reader in try reader.snapshot { try $0.count(0, before: position) } }
            #expect(counts[0] == counts[1], "seed \(seed), before \(key)")
        }
    }
}
