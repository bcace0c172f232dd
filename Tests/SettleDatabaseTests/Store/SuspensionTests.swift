import Foundation
import Settle
import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// A suspended database leaves its files to other processes.
struct SuspensionTests {
    private let folder: TemporaryFolder
    private let store: DocumentStore
    private let database: Database

    init() throws {
        folder = try TemporaryFolder()
        store = try DocumentStore(path: folder.path)
        database = try store.create("notes")
        try database.createIndex(on: "number")
        try database.add("a")
    }

    private var path: String { folder("notes.settle") }

    /// Adds documents in another process, and returns whether that was possible.
    private func addElsewhere(_ count: Int, how: String = "alone") throws -> Bool {
        try BuiltTool("CrashTool").run([how, path, "other", "\(count)"]).status == 0
    }

    private func numbered() throws -> Int {
        try database.find(DocumentQuery<JSONValue>(MangoSelector(["number": ["$gte": 0]]))).rows.count
    }

    @Test func `another process uses a suspended database, and its changes are there afterwards`() throws {
        #expect(try numbered() == 0)
        #expect(try !addElsewhere(1))
        try store.suspend()
        #expect(database.isSuspended)
        #expect(try addElsewhere(3))
        #expect(throws: DatabaseError.self) { try database.document("counter") }
        try store.resume()
        #expect(try !database.isSuspended && database.document("counter")?["n"] == 3)
        #expect(try numbered() == 3)
        #expect(try !addElsewhere(1))
        try database.update("counter") { $0["n"] = 4 }
        #expect(try database.info().documents.live == 6)
    }

    @Test func `what is left of a download is not removed while another process may continue it`() throws {
        let bytes = [UInt8](repeating: 7, count: 200_000)
        let digest = try Database.inMemory().makeAttachment("x", content: bytes).digest
        func download() throws -> AttachmentWriter {
            try database.attachmentWriter(resuming: digest, length: 200_000, encoding: .identity)
        }
        try download().write(Array(bytes.prefix(100_000)))
        try database.suspend()
        #expect(code { try database.collectStoredBlobs() } == .suspended)
        try database.resume()
        #expect(try download().storedLength == 100_000)
        try database.collectStoredBlobs()
        #expect(try download().storedLength == 0)
    }

    @Test func `calls on a suspended database say so, and closing it is possible`() throws {
        try database.suspend()
        try database.suspend()
        #expect(code { try database.add("b") } == .suspended)
        #expect(code { try database.document("a") } == .suspended)
        #expect(code { try numbered() } == .suspended)
        #expect(code { try database.compact() } == .suspended)
        #expect(code { try store.open("notes").document("a") } == .suspended)
        database.close()
        #expect(code { try database.resume() } == .closed)
        #expect(try store.open("notes").document("a") != nil)
    }

    @Test func `a suspended database has no file open`() throws {
        #expect(try numbered() == 0 && openFiles().count > 1)
        try database.suspend()
        #expect(openFiles() == [])
        try database.resume()
        #expect(try numbered() == 0)
    }

    private func openFiles() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }.filter { $0.hasPrefix(path) }
    }

    @Test func `suspending waits for a transaction, which goes on`() async throws {
        let (begun, suspending) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let database = database
        async let written: Void = database.perform { database in
            try database.transaction {
                try database.add("b")
                begun.signal()
                suspending.wait()
                waitUntil("the database is suspended") { database.isSuspended }
                // A read in the transaction is a part of it.
                #expect(try database.document("b") != nil)
                try database.add("c")
            }
        }
        try await database.perform { _ in
            begun.wait()
            suspending.signal()
            try database.suspend()
        }
        try await written
        #expect(code { try database.document("c") } == .suspended)
        try database.resume()
        #expect(try database.document("c") != nil)
    }

    @Test func `a transaction or a snapshot can't suspend its own database`() throws {
        #expect(code { try database.transaction { try database.suspend() } } == .invalid)
        #expect(
            code {
                try database.snapshot {
                    _ = try database.document("a")
                    try database.suspend()
                }
            } == .invalid)
        #expect(try database.document("a") != nil)
    }

    @Test func `a database that another process has taken stays suspended until it is free`() throws {
        try database.suspend()
        let other = try BuiltTool("CrashTool").start(["write", path, "1", "normal", "plain"])
        waitForLog(path)
        #expect(code { try database.resume() } == .inUse)
        #expect(database.isSuspended)
        end(other)
        try database.resume()
        #expect(try database.info().documents.live > 1)
    }

    @Test func `an observer learns after resuming what another process has written`() async throws {
        var changes = try database.observe(since: try database.lastSequence()).makeAsyncIterator()
        try database.suspend()
        #expect(try addElsewhere(1))
        try database.resume()
        #expect(try await changes.next()?.id == "counter")
    }

    @Test func `an observer that looks while the database is suspended waits, and goes on`() async throws {
        let (database, seen) = (database, try database.lastSequence())
        try database.add("before")
        try database.suspend()
        let next = Task {
            var changes = try database.observe(since: seen).makeAsyncIterator()
            return try await changes.next()?.id
        }
        let query = Task {
            var live = database.observe(DocumentQuery<JSONValue>()).makeAsyncIterator()
            return try await live.next()?.rows.count
        }
        // An observer that looks again and again does not show it.
        try await Task.sleep(for: .milliseconds(150))
        try database.resume()
        #expect(try await next.value == "before")
        #expect(try await query.value == 2)
    }

    @Test func `a large attachment that another process has collected is missed, not stored without its bytes`() throws
    {
        let attachment = try database.makeAttachment("a", content: [UInt8](repeating: 7, count: 100_000))
        try database.suspend()
        let other = try Database.open(path + "/../notes.settle")
        #expect(other === database)
        try FileManager.default.removeItem(atPath: path + "/attachments")
        try FileManager.default.createDirectory(atPath: path + "/attachments/new", withIntermediateDirectories: true)
        try database.resume()
        #expect(code { try database.save(Document(id: "d", attachments: [attachment])) } == .attachmentMissing)
    }

    @Test func `stamps go on after those of another process`() throws {
        try database.setAttributeClocks(true)
        try database.updateOrCreate("counter") { $0["n"] = 1 }
        try database.suspend()
        #expect(try addElsewhere(2))
        try database.resume()
        let before = try #require(try clock())
        try database.update("counter") { $0["n"] = 9 }
        let after = try #require(try clock())
        #expect(before < after)
    }

    private func clock() throws -> AttributeClock? {
        try database.document("counter")?.json.object.map { ClockedDocument($0)["n"] } ?? nil
    }
}

/// Waits until another process has opened a database, which makes its write-ahead log.
func waitForLog(_ path: String) {
    waitUntil { FileManager.default.fileExists(atPath: path + "/database.sqlite-wal") }
}

func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitForEnd()
}

/// Where an app is ended for a lock that it holds.
struct GroupFolderTests {
    @Test func `a database in the folder of an App Group is warned about unless it is shared`() throws {
        let folder = try TemporaryFolder()
        let path = folder("Containers/Shared/AppGroup/1F2E/notes.settle")
        try FileManager.default.createDirectory(
            atPath: folder("Containers/Shared/AppGroup/1F2E"), withIntermediateDirectories: true)
        let warnings = Guarded<[String]>([])
        var options = DatabaseOptions()
        options.warn = { warning in warnings.withLock { $0.append(warning) } }
        try Database.create(path, options: options).close()
        #expect(warnings.withLock { $0.count == 1 && $0[0].contains("call suspend() before") })
        options.sharing = ProcessSharing()
        try Database.open(path, options: options).close()
        #expect(warnings.withLock { $0.count == 1 })
    }
}
