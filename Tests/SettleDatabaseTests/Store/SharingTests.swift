import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

/// Several processes use one database by turns.
struct SharingTests {
    private let folder: TemporaryFolder
    private var path: String { folder("shared.settle") }
    private let options: DatabaseOptions = {
        var options = DatabaseOptions()
        options.sharing = ProcessSharing()
        options.sharing?.patience = .seconds(300)
        return options
    }()

    init() throws { folder = try TemporaryFolder() }

    @Test func `processes count in one document at the same time, and none overwrites another`() throws {
        let database = try Database.create(path, options: options)
        try database.createIndex(on: "by")
        let others = try ["x", "y"].map { try BuiltTool("CrashTool").start(["share", path, $0, "60"]) }
        for number in 0..<60 {
            try database.updateOrCreate("counter") { $0["n"] = JSONValue(($0["n"]?.int ?? 0) + 1) }
            try database.save(Document(id: DocumentID(stringLiteral: "own-\(number)"), body: ["by": "own"]))
        }
        for other in others { #expect(other.waitForEnd() == 0) }
        #expect(try database.document("counter")?["n"] == 180)
        for name in ["x", "y", "own"] {
            #expect(try database.find(DocumentQuery<JSONValue>(MangoSelector(["by": .string(name)]))).rows.count == 60)
        }
    }

    @Test func `observers and live queries learn what another process writes`() async throws {
        let database = try Database.create(path, options: options)
        var changes = try database.observe(since: 0).makeAsyncIterator()
        let query = try DocumentQuery<JSONValue>(MangoSelector(["by": "x"]))
        var live = database.observe(query).makeAsyncIterator()
        #expect(try await live.next()?.rows.count == 0)
        #expect(try BuiltTool("CrashTool").run(["share", path, "x", "1"]).status == 0)
        #expect(try await changes.next()?.id == "counter")
        #expect(try await live.next()?.rows.map(\.id) == ["x-0"])
    }

    @Test func `an index that is built for long is finished while another process waits`() throws {
        let database = try Database.create(path, options: options)
        for start in stride(from: 0, to: 20_000, by: 1000) {
            try database.transaction {
                for number in start..<start + 1000 {
                    try database.save(
                        Document(body: ["number": JSONValue(number), "text": "a number in words and digits"]))
                }
            }
        }
        try database.createIndex(on: "number")
        let other = try BuiltTool("CrashTool").start(["share", path, "x", "20"])
        var found = 0
        for _ in 0..<6 {
            let query = DocumentQuery<JSONValue>(try MangoSelector(["number": ["$gte": 0]])).sorted(by: "number")
            found = try database.find(query).rows.count
            let index = try database.indexes().first { !$0.isAllDocuments }
            if let index { try database.deleteIndex(index) }
            try database.createIndex(on: "number")
        }
        #expect(other.waitForEnd() == 0)
        #expect(found >= 20_000)
        #expect(try database.document("x-19") != nil)
    }

    @Test func `a shared database whose folder was deleted is closed, and not made anew`() throws {
        let database = try Database.create(path, options: options)
        #expect(try BuiltTool("CrashTool").run(["share", path, "x", "1"]).status == 0)
        // It has its turn, and reads on without a pause in which it would give the turn away.
        #expect(try database.document("counter") != nil)
        // At once: the database may make files in a folder that is being emptied.
        try FileManager.default.moveItem(atPath: path, toPath: folder("gone"))
        waitUntil { code({ try database.document("counter") }) != nil }
        #expect(code { try database.document("counter") } == .closed)
        #expect(!FileManager.default.fileExists(atPath: path + "/database.sqlite"))
    }

    @Test func `a lock knows when its file was deleted, or is another one now`() throws {
        let folder = try TemporaryFolder()
        let path = folder("lock")
        let lock = try #require(try FileLock(path: path))
        #expect(!lock.isGone)
        try FileManager.default.removeItem(atPath: path)
        #expect(lock.isGone)
        let next = try #require(try FileLock(path: path))
        #expect(lock.isGone && !next.isGone)
    }

    @Test func `a process that has the database alone is waited for, but not longer than allowed`() throws {
        let database = try Database.create(path)
        #expect(try BuiltTool("CrashTool").run(["alone", path, "x", "1"]).status != 0)
        database.close()
        var options = options
        options.sharing?.patience = .milliseconds(50)
        let other = try BuiltTool("CrashTool").start(["write", path, "1", "normal", "plain"])
        waitForLog(path)
        #expect(code { try Database.open(path, options: options) } == .inUse)
        end(other)
        #expect(try Database.open(path, options: options).info().documents.live >= 0)
    }

    @Test func `attachments of a shared database survive its compaction`() async throws {
        let database = try Database.create(path, options: options)
        let attachment = try database.makeAttachment("a", content: [UInt8](repeating: 7, count: 100_000))
        try await database.compact()
        try database.save(Document(id: "d", attachments: [attachment]))
        let stored = try #require(try database.document("d")?.attachments.first)
        #expect(try database.content(of: stored).count == 100_000)
    }
}
