import Foundation
import Settle
import SettleTesting
import Testing

/// The write-ahead log under full durability, and what a crash leaves of it.
@Suite struct WriteAheadLogTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func create() throws -> Database {
        var options = DatabaseOptions()
        options.durability = .full
        return try Database.create(folder.path("a"), options: options)
    }

    private func logLength() throws -> Int {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("a"))
        let name = try #require(files.first { $0.hasSuffix("-wal") })
        return try FileManager.default.attributesOfItem(atPath: folder.path("a/" + name))[.size] as? Int ?? 0
    }

    @Test func `the log left by a crash is read up to the newest commit`() throws {
        let database = try create()
        for round in 1...8 {
            for number in 0..<60 {
                let id = try DocumentID(validating: "r\(round)-\(number)")
                try database.save(Document(id: id, body: ["n": 1]), onConflict: .fail)
            }
            try folder.copy("a", to: "copy\(round)")
            let left = try Database.open(folder.path("copy\(round)"))
            #expect(try left.info().documents.live == round * 60)
            #expect(try left.verify().problems == [])
            try left.save(Document(id: "after", body: [:]), onConflict: .fail)
            left.close()
            #expect(try Database.open(folder.path("copy\(round)")).info().documents.live == round * 60 + 1)
        }
    }

    @Test func `a log that was checkpointed is reused from its beginning`() throws {
        let database = try create()
        let text = JSONValue.string(String(repeating: "x", count: 40_000))
        for number in 0..<600 {
            let id = try DocumentID(validating: "d\(number)")
            try database.save(Document(id: id, body: ["text": text]), onConflict: .fail)
        }
        try folder.copy("a", to: "b")
        let left = try Database.open(folder.path("b"))
        #expect(try left.info().documents.live == 600)
        #expect(try left.verify().problems == [])
        #expect(try logLength() < 5000 * 4120)
    }
}
