import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// Exact copies between storages of all kinds, interrupted at any point.
@Suite struct DatabaseCopyTests {
    private struct Interrupted: Error {}

    private static let places = ["memory", "file", "memory", "shared", "file"]

    /// A new database of a kind.
    private static func make(_ kind: String, in folder: TemporaryFolder) throws -> Database {
        switch kind {
        case "memory": try Database.inMemory()
        case "shared": try SharedStore().node().database
        default: try Database.create(folder(UUID().uuidString))
        }
    }

    /// Copies until that succeeds, though it is interrupted at random points, and opens the target anew if that is possible.
    private static func copy(
        _ source: Database, to target: Database, _ random: inout SeededRandom, _ story: Comment
    ) throws -> (hash: String, copy: Database, interruptions: Int) {
        var (target, interruptions, rate) = (target, 0, 2)
        while true {
            do {
                let hash = try source.copy(to: target) { _ in
                    if random.oneIn(rate) { throw Interrupted() }
                }
                return (hash, try reopened(target), interruptions)
            } catch is Interrupted {
                interruptions += 1
                // Steps become fewer only behind the first page of each part.
                rate += 1
                if random.oneIn(2) { target = try reopened(target) }
            }
        }
    }

    private static func reopened(_ database: Database) throws -> Database {
        guard let path = database.path else { return database }
        database.close()
        return try Database.open(path)
    }

    @Test(.timeLimit(.minutes(5)), arguments: 0..<6)
    func `a random database is the same in every storage`(round: Int) throws {
        let folder = try TemporaryFolder()
        let seed = SeededRandom.seed &+ UInt64(round)
        let story: Comment = "SETTLE_SEED=\(seed) (round 0)"
        var random = SeededRandom(seed: seed)
        let first = try Self.make(["memory", "file"][round % 2], in: folder)
        var filling = RandomDatabase(database: first, random: random)
        for _ in 0..<[0, 20, 100, 200, 400, 800][round] { try filling.step() }
        let sequence = try first.lastSequence()
        #expect(try first.problems() == [], story)
        var (hashes, source, interruptions): (Set<String>, Database, Int) = ([], first, 0)
        for kind in Self.places {
            let (hash, copy, count) = try Self.copy(source, to: Self.make(kind, in: folder), &random, story)
            hashes.insert(hash)
            interruptions += count
            #expect(try copy.problems() == [], story)
            #expect(try copy.info().documents == first.info().documents, story)
            #expect(try copy.instanceName() == first.instanceName(), story)
            #expect(try copy.changes().map(\.sequence) == first.changes().map(\.sequence), story)
            source = copy
        }
        #expect(hashes.count == 1, story)
        // Both go on as one would have.
        for database in [first, source] {
            try database.save(Document(id: "next"), onConflict: .fail)
            #expect(try database.lastSequence().number == sequence.number + 1, story)
            try database.compact()
            #expect(try database.problems() == [], story)
        }
        print("a copy of \(sequence.number) changes was interrupted \(interruptions) times; \(story)")
    }

    /// A database with a few documents.
    private static func sample() throws -> Database {
        let database = try Database.inMemory()
        for id: DocumentID in ["a", "b", "c"] { try database.add(id) }
        try database.set("b", "v", 2)
        let content = [UInt8](repeating: 7, count: 100_000)
        try database.save(
            Document(id: "d", attachments: [database.makeAttachment("x", content: content)]), onConflict: .fail)
        try database.purge("d")
        try database.purge("c")
        try database.saveLocalDocument("_local/l", body: ["v": 1])
        return database
    }

    @Test func `positions, tokens and the instance of a copy are those of the source`() throws {
        let (source, target) = (try Self.sample(), try Database.inMemory())
        try source.copy(to: target)
        #expect(try target.lastSequence() == source.lastSequence())
        #expect(try target.changes().map(\.sequence.number) == [1, 4])
        let tokens = try [source, target].map { database in
            try database.engine.read { try $0.record(of: "b", withContent: false) }?.tree.allNodes.map(\.bodyToken)
        }
        #expect(tokens[0] == tokens[1] && tokens[0]?.count == 2)
        #expect(try target.localDocument("_local/l")?.body == ["v": 1])
        #expect(try PurgeLog.purged(after: 0, in: target) == ["d", "c"])
        #expect(try target.info().blobs == 1)
        #expect(try target.setting(DatabaseCopy.marker) == nil)
        #expect(try target.problems() == [])
    }

    @Test func `a token is not given again though its content is gone from the source`() throws {
        let (source, target) = (try Self.sample(), try Database.inMemory())
        for number in 0..<5 { try source.set("a", "v", .number(JSONNumber(number))) }
        let newest = try source.engine.read { try $0.newestContentToken() }
        try source.compact(keepingOldContentsFor: .seconds(0))
        try source.purge("a")
        try source.purge("b")
        #expect(try source.engine.read { try $0.contentTokens(after: 0, limit: 1) } == [])
        try source.copy(to: target)
        let token = try target.engine.hold { try $0.putContent(RevisionContent(body: .empty)) }
        #expect(token > (try #require(newest)))
        // An engine that counts tokens learns it, too.
        let store = try SharedStore()
        try source.copy(to: store.node().database)
        #expect(store.restoredTokens == [newest])
    }

    @Test func `a target that is not empty, or the copy of another, is refused`() throws {
        let (source, target, other) = (try Self.sample(), try Database.inMemory(), try Self.sample())
        try target.saveLocalDocument("_local/l", body: .empty)
        #expect(code { try source.copy(to: target) } == .exists)
        #expect(try target.setting(DatabaseCopy.marker) == nil)
        let begun = try Database.inMemory()
        #expect(throws: Interrupted.self) { try source.copy(to: begun) { _ in throw Interrupted() } }
        #expect(code { try other.copy(to: begun) } == .exists)
        #expect(code { try begun.copy(to: Database.inMemory()) } == .invalid)
        try source.copy(to: begun)
        #expect(code { try source.copy(to: begun) } == .exists)
    }

    @Test func `a journal with operations is refused, and an empty one is not for a shared database`() throws {
        var options = DatabaseOptions()
        options.journal = true
        let source = try Database.inMemory(options: options)
        try source.add("a")
        let target = try SharedStore().node().database
        let error = #expect(throws: DatabaseError.self) { try source.copy(to: target) }
        #expect(error?.code == .invalid && error?.message.contains("no peer has acknowledged") == true)
        #expect(try target.lastSequence() == 0)
        try source.markShared([("a", try #require(try source.document("a")?.revision))])
        try source.copy(to: target)
        #expect(try target.setting(Database.journalSetting) == nil)
        let back = try Database.inMemory()
        try source.copy(to: back)
        #expect(try back.setting(Database.journalSetting) != nil)
    }

    @Test func `ids that are too long are listed, and nothing is written`() throws {
        let source = try Self.sample()
        let long = [300, 400].map { DocumentID(unchecked: String(repeating: "x", count: $0)) }
        for id in long { try source.add(id) }
        let target = try Database.make(on: SharedStore().engine(longestID: 299))
        let error = #expect(throws: DatabaseError.self) { try source.copy(to: target) }
        #expect(error?.code == .invalid)
        #expect(error?.message.contains("2 ids are longer than the 299 bytes") == true)
        #expect(error?.message.contains("(300 bytes)") == true && error?.message.contains("(400 bytes)") == true)
        #expect(try target.engine.read { try $0.sideRecords(.settings(after: nil), limit: 9) } == [])
        let wide = try Database.make(on: SharedStore().engine(longestID: 400))
        try source.copy(to: wide)
        #expect(try wide.counts().live == 4)
    }

    @Test func `a source that is changed meanwhile is noticed`() throws {
        let (source, target) = (try Self.sample(), try Database.inMemory())
        var wasChanged = false
        #expect(
            code {
                try source.copy(to: target) { progress in
                    guard progress.phase == "comparing", !wasChanged else { return }
                    wasChanged = true
                    try source.add("late")
                }
            } == .conflict)
        let begun = try Database.inMemory()
        #expect(throws: Interrupted.self) {
            try source.copy(to: begun) { if $0.phase == "documents" { throw Interrupted() } }
        }
        try source.set("a", "v", 9)
        #expect(code { try source.copy(to: begun) } == .conflict)
    }

    @Test(arguments: [
        "documents", "old revisions", "local documents", "settings", "attachments", "the newest position",
    ])
    func `a copy that differs is an error that says where`(part: String) throws {
        let (source, target) = (try Self.sample(), try Database.inMemory())
        let error = #expect(throws: DatabaseError.self) {
            try source.copy(to: target) { progress in
                guard progress.phase == "settings" else { return }
                try target.engine.hold { writer in
                    switch part {
                    case "documents":
                        var record = try #require(try writer.record(of: "b", withContent: true))
                        record.tree.mark(try #require(record.tree.winner?.revision), .incoming)
                        try writer.updateTree(of: record)
                    case "old revisions": try writer.removeContent(at: writer.contentTokens(after: 0, limit: 1)[0])
                    case "local documents": try writer.remove(.local("_local/l"))
                    case "settings": try writer.setSetting("more", to: "1")
                    case "attachments": try writer.remove(.blob(writer.blobs(after: nil, limit: 1)[0].digest))
                    default: try target.capabilities.restorable?.restoreSequence(1000)
                    }
                }
            }
        }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("in \(part), if") == true, "\(String(describing: error))")
        #expect(try target.setting(DatabaseCopy.marker) != nil)
    }

    @Test func `what is damaged in the source is named`() throws {
        let folder = try TemporaryFolder()
        let source = try Database.create(folder("a.settle"))
        defer { source.close() }
        let content = [UInt8](repeating: 1, count: 100_000)
        let attachment = try source.makeAttachment("x", content: content)
        try source.save(Document(id: "a", attachments: [attachment]), onConflict: .fail)
        let digest = attachment.blob.description
        let path = "\(folder.path)/a.settle/attachments/\(digest.prefix(2))/\(digest)"
        try Data(repeating: 0, count: 100_000).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: DatabaseError.self) { try source.copy(to: Database.inMemory()) }
        #expect(error?.code == .attachmentMissing && error?.message.contains(digest) == true)
    }
}
