import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite struct StoreTests {
    @Test func `databases are created, listed, opened and deleted by name`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder("data"))
        #expect(try store.names() == [])
        #expect(code { try store.open("notes") } == .notFound)
        let notes = try store.create("notes")
        try notes.add("a")
        #expect(code { try store.create("notes") } == .exists)
        #expect(try store.openOrCreate("notes") === notes)
        _ = try store.create("_users")
        _ = try store.create("a0_$()+-/b/c")
        #expect(try store.names() == ["_users", "a0_$()+-/b/c", "notes"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("data")).count == 3)
        try store.delete("notes")
        #expect(code { try notes.document("a") } == .closed)
        #expect(code { try store.delete("notes") } == .notFound)
        #expect(try store.names() == ["_users", "a0_$()+-/b/c"])
        #expect(try store.create("notes").document("a") == nil)
    }

    @Test(arguments: [
        "", "A", "aB", "1a", "_a", "_", "a b", "a.b", "é", "aé", "../a", "/a", "a\u{0}", "a%2Fb",
        String(repeating: "a", count: 239),
    ])
    func `an illegal name is refused`(name: String) throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        #expect(!DocumentStore.isName(name))
        #expect(code { try store.create(name) } == .invalid)
        #expect(code { try store.open(name) } == .invalid)
        #expect(code { try store.delete(name) } == .invalid)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test(arguments: ["a", "a/b", "z_0-9$()+", "_users", "_replicator", "_global_changes"])
    func `a legal name is taken`(name: String) throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        try store.create(name).add("a")
        #expect(try store.names() == [name])
        #expect(try store.open(name).document("a") != nil)
    }

    @Test func `a database whose folder has the longest name there is can be deleted`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        // Each slash is three bytes of the folder's name.
        let name = "a/b/c/d/e/f" + String(repeating: "g", count: 227)
        #expect(DocumentStore.isName(name))
        try store.create(name).add("a")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).map(\.utf8.count) == [255])
        try store.delete(name)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test func `removing a folder without a suffix leaves a database of that name that is being removed`() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder("a.settle.deleted"), withIntermediateDirectories: true)
        try Database.create(folder("a")).add("x")
        try Database.remove(folder("a"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.settle.deleted"])
    }

    @Test func `other files in the folder are not listed`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        for name in ["x.settle", "a.settle.deleted", "A.settle", "other"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: true)
        }
        _ = try store.create("real")
        #expect(try store.names() == ["real"])
    }

    @Test func `the remains of an interrupted deletion are removed when the store opens`() throws {
        let folder = try TemporaryFolder()
        _ = try DocumentStore(path: folder.path).create("kept")
        let left = folder.path + "/doomed.settle.deleted"
        try FileManager.default.createDirectory(atPath: left + "/attachments", withIntermediateDirectories: true)
        #expect(try DocumentStore(path: folder.path).names() == ["kept"])
        #expect(!FileManager.default.fileExists(atPath: left))
    }

    @Test func `a database that nobody holds any more leaves nothing behind in memory`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        for number in 0..<50 { _ = try store.create("db\(number)") }
        for number in 0..<50 { _ = try store.open("db\(number)") }
        let entries = DatabaseRegistry.shared.entries.withLock { $0.keys.map { String(decoding: $0, as: UTF8.self) } }
        #expect(!entries.contains { $0.hasPrefix(folder.path) })
    }

    @Test func `opening a database that is being closed gives an open one`() async throws {
        let folder = try TemporaryFolder()
        for _ in 0..<100 {
            let database = try Database.openOrCreate(folder.path + "/a.settle")
            let opening = Opening(path: folder.path + "/a.settle")
            // It is released when the database is no longer usable.
            _ = database.companion(OpensAtEnd.self) { OpensAtEnd(opening: opening) }
            database.close()
            #expect(throws: Never.self) { try opening.wait() }
        }
    }

    @Test func `a database that is being closed can be deleted`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        for round in 0..<50 {
            let database = try store.create("a")
            try database.add(DocumentID(validating: "d\(round)"))
            let closing = try SystemThread { database.close() }
            defer { closing.join() }
            try store.delete("a")
            #expect(try store.names().isEmpty)
        }
    }

    @Test func `a store whose folder can't be created throws an error that says so`() throws {
        let folder = try TemporaryFolder()
        try Data().write(to: URL(fileURLWithPath: folder("file")))
        #expect(code { try DocumentStore(path: folder("file") + "/data") } == .inputOutput)
    }
}

/// Opens a database on another thread.
private final class Opening: Sendable {
    private let path: String
    private let ended = DispatchSemaphore(value: 0)
    private let result = Guarded<Result<Void, any Error>?>(nil)

    init(path: String) { self.path = path }

    func begin() {
        Thread.detachNewThread { [self] in
            let opened = Result { _ = try Database.open(path).info() }
            result.withLock { $0 = opened }
            ended.signal()
        }
    }

    func wait() throws {
        ended.wait()
        try result.withLock { $0 }?.get()
    }
}

/// Starts opening a database when it is released.
private final class OpensAtEnd: Sendable {
    private let opening: Opening

    init(opening: Opening) { self.opening = opening }

    deinit { opening.begin() }
}
