import Foundation
import Settle
import SettleTesting
import Testing

/// Databases of formats that have a journal; `FormatFixtureTests` opens one of format 1. In format 2 the journal holds all
/// contents itself, from format 3 those that documents don't keep.
struct JournalFixtureTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ format: Int) throws -> Database {
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/format-\(format)/example.settle")
        try FileManager.default.copyItem(atPath: fixture.path, toPath: folder.path("example.settle"))
        return try Database.open(folder.path("example.settle"))
    }

    @Test(arguments: [2, 3, 4]) func `an old file opens with its journal, is sound and writable`(format: Int) throws {
        let database = try open(format)
        let report = try database.verify()
        #expect(report.problems == [])
        #expect(report.documents == 13)
        let journal = try #require(database.journal)
        let bread = try journal.history(of: "bread")
        #expect(bread.map(\.operation) == [.create, .delete])
        #expect(bread.map(\.time.milliseconds) == [1_767_323_045_000, 1_767_323_045_000])
        let stemmed = try journal.history(of: "stemmed")
        #expect(stemmed.map { $0.new?.body["n"] } == (1...12).map { .number(JSONNumber($0)) })
        #expect(stemmed.map { $0.old?.body["n"] } == [nil] + (1...11).map { .number(JSONNumber($0)) })
        #expect(try journal.history(of: "purged").isEmpty)
        #expect(try journal.pending(of: "milk")?.attributes.last?.name == "name")
        var milk = try #require(try database.document("milk"))
        milk["new"] = true
        try database.save(milk, onConflict: .fail)
        try journal.undo("milk")
        #expect(try database.document("milk") == nil)
        try database.compact()
        #expect(try database.verify().problems == [])
    }

    @Test func `a file of format 1 gets an empty journal when the journal is switched on`() throws {
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
