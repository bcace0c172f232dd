import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// SQLite silently drops the end of a damaged write-ahead log.
@Suite struct DamagedLogTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A copy of a database whose documents are in its log.
    private func makeCopy() throws -> URL {
        let database = try Database.create(folder.path("a"))
        defer { database.close() }
        for number in 0..<50 {
            try database.save(Document(id: DocumentID(unchecked: "d\(number)"), body: ["n": 1]), onConflict: .fail)
        }
        try folder.copy("a", to: "b")
        try folder.copy("a", to: "c")
        return URL(filePath: folder.path("b/database.sqlite-wal"))
    }

    private func renew() throws {
        try FileManager.default.removeItem(atPath: folder.path("b"))
        try folder.copy("c", to: "b")
    }

    private func report() throws -> VerificationReport {
        let database = try Database.open(folder.path("b"))
        defer { database.close() }
        return try database.verify()
    }

    @Test func `verification names a log that ended early, until its copy is removed`() throws {
        let log = try makeCopy()
        var data = try Data(contentsOf: log)
        let before = data
        data[data.count / 4] ^= 4
        try data.write(to: log)
        for _ in 0..<2 {
            let problem = try #require(try report().problems.first { $0.contains("write-ahead log") })
            #expect(problem.contains("ended early"))
        }
        #expect(try Data(contentsOf: URL(filePath: folder.path("b/damaged.wal"))).count == before.count)
        try FileManager.default.removeItem(atPath: folder.path("b/damaged.wal"))
        #expect(try report().problems == [])
    }

    @Test func `what is written after a damaged page is not mistaken for a part of the old log`() throws {
        let log = try makeCopy()
        var data = try Data(contentsOf: log)
        data[data.count / 4] ^= 4
        try data.write(to: log)
        let database = try Database.open(folder.path("b"))
        try database.save(Document(id: "after", body: [:]), onConflict: .fail)
        try FileManager.default.removeItem(atPath: folder.path("b/damaged.wal"))
        try folder.copy("b", to: "d")
        database.close()
        let copy = try Database.open(folder.path("d"))
        defer { copy.close() }
        #expect(try copy.document("after") != nil)
        #expect(try copy.verify().problems == [])
    }

    @Test func `a log whose beginning is damaged is named`() throws {
        let log = try makeCopy()
        var data = try Data(contentsOf: log)
        data[20] ^= 1
        try data.write(to: log)
        #expect(try report().problems.contains { $0.contains("write-ahead log") })
    }

    @Test func `a log that a killed process left in the middle of a transaction is sound`() throws {
        let log = try makeCopy()
        let data = try Data(contentsOf: log)
        let page = 4096 + 24
        for length in [0, 31, 32, 40, 32 + page, 32 + page + 100, data.count - 1, data.count - page] {
            try renew()
            try data.prefix(length).write(to: log)
            #expect(try report().problems == [], "\(length) bytes")
        }
        // The last page was not written as a whole.
        var torn = data
        torn[torn.count - 100] ^= 1
        try renew()
        try torn.write(to: log)
        #expect(try report().problems == [])
    }
}
