import Foundation
import Settle
import SettleTesting
import Testing

/// The room reserved ahead in the write-ahead log if each commit is forced to the disk.
@Suite struct LogRoomTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func create(_ durability: Durability) throws -> Database {
        var options = DatabaseOptions()
        options.durability = durability
        return try Database.create(folder.path("a"), options: options)
    }

    private func logLength() throws -> Int {
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("a"))
        let name = try #require(files.first { $0.hasSuffix("-wal") })
        return try FileManager.default.attributesOfItem(atPath: folder.path("a/" + name))[.size] as? Int ?? 0
    }

    /// The length of the log's file after each of some commits.
    private func lengths(_ database: Database, commits: Int) throws -> [Int] {
        try (0..<commits).map { number in
            try database.save(Document(id: DocumentID(validating: "d\(number)"), body: ["n": 1]), onConflict: .fail)
            return try logLength()
        }
    }

    @Test func `the log's file hardly ever grows with a commit`() throws {
        let lengths = try lengths(create(.full), commits: 400)
        #expect(Set(lengths.dropFirst(40)).count <= 8)
        #expect(lengths.last ?? 0 > 400 * 4096)
        #expect(lengths[0] < 40 * 4096, "a few commits take no large file")
    }

    @Test func `where commits are not brought to the disk at once the file is as long as the log`() throws {
        let lengths = try lengths(create(.normal), commits: 100)
        #expect(Set(lengths).count == 100)
    }

    @Test func `what a crash leaves is read to the newest commit`() throws {
        let database = try create(.full)
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

    @Test func `a log that was brought into the database begins anew in its room`() throws {
        let database = try create(.full)
        let text = JSON.string(String(repeating: "x", count: 40_000))
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
