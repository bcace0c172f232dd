import Foundation
import SettleCore
import SettlePlatform
import SettleQuery
import SettleTesting
import Testing

@testable import SettleDatabase
@testable import SettleViews

/// The file of an index, when several connections open it at once.
@Suite struct IndexFileTests {
    /// What a killed process may leave: an empty file, with or without a log beside it.
    @Test(arguments: [false, true]) func `connections that open a new file at once all get it`(hasLog: Bool) throws {
        let folder = try TemporaryFolder()
        let failures = Guarded<[String]>([])
        for round in 0..<200 {
            let path = folder("\(round).index")
            try Data().write(to: URL(fileURLWithPath: path))
            if hasLog { try Data("left".utf8).write(to: URL(fileURLWithPath: path + "-wal")) }
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    let connection = try IndexFile.open(path, .views)
                    if try connection.integer("PRAGMA user_version") != IndexTables.views.version {
                        failures.withLock { $0.append("no tables") }
                    }
                } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    /// Queries open and close the file of an index by its path while another thread removes and makes the index.
    @Test func `a query answers in full while its index is removed and made again`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder("d"))
        defer { database.close() }
        for result in try database.write(
            (0..<50).map { DocumentEdit(id: DocumentID(unchecked: "d\($0)"), parent: nil, body: ["kind": "tea"]) })
        { _ = try result.get() }
        let query = try DocumentQuery<JSONValue>(MangoSelector(["kind": "tea"]))
        let (failures, isOver) = (Guarded<[String]>([]), Guarded(false))
        let note = { @Sendable (text: String) in failures.withLock { $0.append(text) } }
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            do {
                if worker == 0 {
                    defer { isOver.withLock { $0 = true } }
                    for _ in 0..<150 {
                        let index = try database.createIndex(on: "kind")
                        _ = try database.find(query)
                        #expect(try database.deleteIndex(index))
                    }
                } else {
                    while !isOver.withLock({ $0 }) {
                        let count = try database.find(query).values.count
                        if count != 50 { note("\(count) documents") }
                    }
                }
            } catch { note("\(error)") }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test func `only indexes of members with an underscore have other files than in earlier versions`() throws {
        let others: [([String], MangoSelector?)] = [
            (["age"], nil), (["_id", "_rev", "a._b", ""], nil), (["_attachments", "_conflicts"], nil),
            (["age"], try MangoSelector(["_id": ["$gt": "a"]])),
        ]
        for (columns, filter) in others {
            #expect(QueryIndex.identity(columns, filter).array?.count == 3, "\(columns)")
        }
        let changed: [([String], MangoSelector?)] = [
            (["age", "_replication_state"], nil), (["_access.x"], nil),
            (["age"], try MangoSelector(["_replication_state": "failed"])),
        ]
        for (columns, filter) in changed {
            #expect(QueryIndex.identity(columns, filter).array?.count == 4, "\(columns)")
        }
        #expect(QueryViewMapper.readsUnderscore(["fields": ["_access": "asc"]]))
        #expect(QueryViewMapper.readsUnderscore(["fields": ["a": "asc"], "selector": ["_access": 1]]))
        #expect(!QueryViewMapper.readsUnderscore(["fields": ["_id": "asc"], "selector": ["a": 1]]))
        #expect(!QueryViewMapper.readsUnderscore("function(doc) { emit(doc._access, 1) }"))
    }

    @Test func `the file of an index that is in use goes with its last user, or stays for an index of its name`() throws
    {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder("d"))
        defer { database.close() }
        try database.save(Document(id: "a", body: ["kind": "tea"]))
        let place = try #require(database.path) + "/views/"
        func isThere(_ index: QueryIndex) -> Bool {
            FileManager.default.fileExists(atPath: "\(place)\(index.fileName).index")
        }
        let index = try database.createIndex(on: "kind")
        try index.update(from: database) { _, _ in }
        var used: ViewIndex? = try index.rows(in: database)
        #expect(try database.deleteIndex(index) && isThere(index))
        used?.closeFiles()
        #expect(try used?.sequence().number == 2)
        used = nil
        #expect(!isThere(index))

        let again = try database.createIndex(on: "kind")
        try again.update(from: database) { _, _ in }
        used = try again.rows(in: database)
        #expect(try database.deleteIndex(again))
        let third = try database.createIndex(on: "kind")
        #expect(try third.rows(in: database) === used)
        used = nil
        #expect(isThere(third))
    }

    @Test func `an index that was used in a transaction alone is not new`() throws {
        let database = try Database.inMemory()
        defer { database.close() }
        let index = try database.createIndex(on: "kind")
        let folder = IndexFolder.of(database)
        #expect(folder.isNew(index.fileName))
        let used = try database.transaction { try index.rows(in: database) }
        #expect(!folder.isNew(index.fileName))
        withExtendedLifetime(used) {}
    }
}
