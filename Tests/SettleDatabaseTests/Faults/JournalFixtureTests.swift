import Foundation
import Settle
import SettleTesting
import Testing

/// A database of format 2, the first that has a journal; `FormatFixtureTests` opens one of format 1.
struct JournalFixtureTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/format-2/example.settle")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: folder.path("example.settle"))
    }

    private func open() throws -> Database { try Database.open(folder.path("example.settle")) }

    @Test func `it opens with its journal, is sound, and can be written`() throws {
        let database = try open()
        let report = try database.verify()
        #expect(report.problems == [])
        #expect(report.documents == 13)
        let journal = try #require(database.journal)
        let bread = try journal.history(of: "bread")
        #expect(bread.map(\.operation) == [.create, .delete])
        #expect(bread.map(\.time) == [1_767_323_045_000, 1_767_323_045_000])
        #expect(try journal.history(of: "stemmed").count == 12)
        #expect(try journal.history(of: "purged").isEmpty)
        #expect(journal.pending(of: "milk")?.attributes.last?.name == "name")
        var milk = try #require(try database.document("milk"))
        milk["new"] = true
        try database.save(milk, onConflict: .fail)
        try journal.undo("milk")
        #expect(try database.document("milk") == nil)
        try database.compact()
        #expect(try database.verify().problems == [])
    }

    @Test func `one of format 1 gets an empty journal when it is switched on`() throws {
        let old = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/format-1/example.settle")
        try FileManager.default.copyItem(atPath: old.path, toPath: folder.path("old.settle"))
        var options = DatabaseOptions()
        options.journal = true
        let database = try Database.open(folder.path("old.settle"), options: options)
        #expect(database.journal?.isEmpty == true)
        try database.set("milk", "n", 1)
        #expect(database.journal?.count == 1)
    }
}
