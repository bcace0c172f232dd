import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// The folder with the indexes of a database that has no folder of its own.
@Suite struct IndexFolderTests {
    private let folder: TemporaryFolder
    private let warnings = Guarded<[String]>([])
    private let mapped = Counter()

    init() throws { folder = try TemporaryFolder() }

    private var indexes: String { folder("indexes") }

    /// A view that counts how many documents it maps.
    private var all: MapIndex<String, Int> {
        let mapped = mapped
        return MapIndex("all", version: 1) { document, emit in
            mapped.add(1)
            emit(document.id.string, document["n"]?.int ?? 0)
        }
    }

    /// A database on an engine in a file, which has no folder of its own.
    private func open(_ name: String = "a", indexes: String? = nil) throws -> Database {
        var options = DatabaseOptions()
        options.indexFolder = indexes ?? self.indexes
        let warnings = warnings
        options.warn = { warning in warnings.withLock { $0.append(warning) } }
        let database = try Database.make(on: SQLiteStorage.file(folder(name)), options: options)
        #expect(database.path == nil)
        return database
    }

    private func save(_ ids: DocumentID..., to database: Database) throws {
        for id in ids { try database.save(Document(id: id, body: ["n": 1]), onConflict: .fail) }
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: indexes).filter { $0.hasSuffix(".index") } }
    }

    @Test func `an index that an earlier opening has left is brought up to date`() throws {
        let first = try open()
        try save("a", "b", "c", to: first)
        #expect(try first.rows(of: all).map(\.key) == ["a", "b", "c"])
        #expect(try first.search("nothing", in: TextIndex("texts", fields: ["t"])).isEmpty)
        #expect(mapped.value == 3)
        first.close()
        #expect(try files.count == 2)
        let second = try open()
        defer { second.close() }
        #expect(try second.rows(of: all).map(\.key) == ["a", "b", "c"])
        #expect(mapped.value == 3)
        try save("d", to: second)
        #expect(try second.rows(of: all).map(\.key) == ["a", "b", "c", "d"])
        #expect(mapped.value == 4)
        #expect(warnings.withLock { $0 } == [])
    }

    @Test func `what was purged while no index followed is gone from it`() throws {
        let first = try open()
        try save("a", "b", "c", to: first)
        #expect(try first.rows(of: all).count == 3)
        first.close()
        let second = try open()
        try second.purge("c")
        try second.purge("a")
        second.close()
        let third = try open()
        defer { third.close() }
        #expect(try third.rows(of: all).map(\.key) == ["b"])
        #expect(mapped.value == 3)
    }

    @Test func `the index of another database, or of a newer state, is built anew`() throws {
        let first = try open()
        try save("a", "b", to: first)
        #expect(try first.rows(of: all).count == 2)
        first.close()
        try FileManager.default.copyItem(atPath: folder("a"), toPath: folder("old"))
        let other = try open("b")
        try save("x", "y", "z", to: other)
        #expect(try other.rows(of: all).map(\.key) == ["x", "y", "z"])
        other.close()
        let newer = try open()
        try save("c", to: newer)
        #expect(try newer.rows(of: all).map(\.key) == ["a", "b", "c"])
        newer.close()
        let restored = try open("old")
        defer { restored.close() }
        try save("d", to: restored)
        #expect(try restored.rows(of: all).map(\.key) == ["a", "b", "d"])
        #expect(mapped.value == 2 + 3 + 3 + 3)
    }

    @Test func `who finds the folder taken warns, and uses a temporary one`() throws {
        let first = try open()
        try save("a", to: first)
        #expect(try first.rows(of: all).count == 1)
        let second = try open("b")
        defer { second.close() }
        try save("x", to: second)
        #expect(try second.rows(of: all).map(\.key) == ["x"])
        #expect(warnings.withLock { $0.count } == 1)
        #expect(warnings.withLock { $0.first }?.contains(indexes) == true)
        try save("b", to: first)
        #expect(try first.rows(of: all).map(\.key) == ["a", "b"])
        first.close()
        #expect(try files.count == 1)
        let third = try open()
        defer { third.close() }
        #expect(try third.rows(of: all).map(\.key) == ["a", "b"])
        #expect(mapped.value == 3)
        #expect(warnings.withLock { $0.count } == 1)
    }

    @Test func `a process that was killed leaves a folder that can be used`() throws {
        // The system releases the lock of a process that ends; the file stays.
        try FileManager.default.createDirectory(atPath: indexes, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: indexes + "/lock"))
        let database = try open()
        defer { database.close() }
        try save("a", to: database)
        #expect(try database.rows(of: all).count == 1)
        #expect(try files.count == 1)
        #expect(try FileLock(path: indexes + "/lock") == nil)
        #expect(warnings.withLock { $0 } == [])
    }

    @Test func `a folder that can't be made is reported, and queries work`() throws {
        try Data().write(to: URL(fileURLWithPath: folder("file")))
        let database = try open(indexes: folder("file") + "/indexes")
        defer { database.close() }
        try save("a", to: database)
        #expect(try database.rows(of: all).count == 1)
        #expect(warnings.withLock { $0.count } == 1)
    }
}
