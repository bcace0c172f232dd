import Foundation
import PostgresTesting
import Settle
import SettlePlatform
import SettleTesting
import Testing

/// The state of the database that the rows reflect, for any reader and any number of reads without a change.
struct ViewStateTests {
    private struct Refused: Error {}

    private static let all = MapIndex<String, Int>("all", version: 1) { document, emit in
        emit(document.id.string, document["n"]?.int ?? 0)
    }

    /// A database in a file and one in memory, each with the document `a` and its row.
    private static func each(_ body: (Database) throws -> Void) throws {
        let folder = try TemporaryFolder()
        for database in [try Database.plain(), try Database.create(folder.path + "/rows.settle")] {
            try database.save(Document(id: "a", body: ["n": 1]), onConflict: .fail)
            #expect(try database.rows(of: all).map(\.key) == ["a"])
            #expect(try database.rows(of: all).map(\.key) == ["a"])
            try body(database)
            database.close()
        }
    }

    @Test func `a transaction sees its own writes, and nobody does when it failed`() throws {
        try Self.each { database in
            #expect(throws: Refused.self) {
                try database.transaction {
                    try database.save(Document(id: "b"), onConflict: .fail)
                    #expect(try database.rows(of: Self.all).map(\.key) == ["a", "b"])
                    throw Refused()
                }
            }
            #expect(try database.rows(of: Self.all).map(\.key) == ["a"])
            try database.save(Document(id: "c"), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c"])
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c"])
        }
    }

    /// Runs a closure on another thread, and waits for it.
    private static func elsewhere(_ body: @escaping @Sendable () throws -> [DocumentID]) -> [DocumentID]? {
        let (found, group) = (Guarded<[DocumentID]?>(nil), DispatchGroup())
        DispatchQueue.global().async(group: group) {
            let ids = try? body()
            found.withLock { $0 = ids }
        }
        guard group.wait(timeout: .now() + 300) == .success else {
            Issue.record("the other thread waits for a transaction")
            return nil
        }
        return found.withLock { $0 }
    }

    @Test func `nobody else sees the rows of a transaction before it is committed`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder.path + "/rows.settle")
        defer { database.close() }
        func files() throws -> Int {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/rows.settle/views")
            return names.count { $0.hasSuffix(".index") }
        }
        let index = try database.createIndex(on: "n")
        var document = try database.save(Document(id: "a", body: ["n": 1]), onConflict: .fail)
        let query = DocumentQuery<JSONValue>(try MangoSelector(["n": ["$gt": 0]]))
        let stored = query.withoutUpdating()
        #expect(try database.find(query).rows.map(\.id) == ["a"])
        // Before its first change, a transaction uses the index of everybody.
        let shared = try database.transaction { try database.find(query).rows.map(\.id) }
        #expect(shared == ["a"])
        #expect(try files() == 1)
        document["n"] = 0
        for isCommitted in [false, true] {
            try? database.transaction {
                try database.save(document, onConflict: .fail)
                try database.save(Document(id: "b", body: ["n": 1]), onConflict: .fail)
                #expect(try database.find(query).rows.map(\.id) == ["b"])
                #expect(Self.elsewhere { try database.find(stored).rows.map(\.id) } == ["a"])
                #expect(Self.elsewhere { try database.find(query).rows.map(\.id) } == ["a"])
                if !isCommitted { throw Refused() }
            }
            let expected: [DocumentID] = isCommitted ? ["b"] : ["a"]
            #expect(try database.find(query).rows.map(\.id) == expected)
        }
        #expect(try files() == 2)
        for isCommitted in [false, true] {
            try? database.transaction {
                #expect(try database.deleteIndex(index))
                #expect(try files() == 2)
                if !isCommitted { throw Refused() }
            }
            #expect(try files() == (isCommitted ? 0 : 2))
        }
    }

    @Test(.timeLimit(.minutes(5))) func `transactions and other threads query a database in memory at once`() throws {
        let database = try Database.inMemory()
        defer { database.close() }
        let failures = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            func isFound(_ id: DocumentID) throws -> Bool {
                try database.rows(of: Self.all).contains { $0.id == id }
            }
            func insert(_ id: DocumentID) throws -> Bool {
                let wasFound = try isFound(id)
                try database.save(Document(id: id), onConflict: .fail)
                let isThere = try isFound(id)
                return isThere && !wasFound
            }
            do {
                for round in 0..<50 {
                    let id = DocumentID(stringLiteral: "\(worker)-\(round)")
                    let isSeen = try worker < 2 ? database.transaction { try insert(id) } : insert(id)
                    if !isSeen { failures.withLock { $0.append("\(id)") } }
                }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test func `a change that replaces a rolled back one is seen`() throws {
        try Self.each { database in
            #expect(throws: Refused.self) {
                try database.transaction {
                    try database.save(Document(id: "b"), onConflict: .fail)
                    #expect(try database.rows(of: Self.all).map(\.key) == ["a", "b"])
                    throw Refused()
                }
            }
            try database.save(Document(id: "c"), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c"])
            #expect(throws: Refused.self) {
                try database.transaction {
                    try database.purge("a")
                    #expect(try database.rows(of: Self.all).map(\.key) == ["c"])
                    throw Refused()
                }
            }
            try database.save(Document(id: "d"), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c", "d"])
            // The last change may be purged, and more than that.
            try database.purge("d")
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c"])
            try database.purge("c")
            try database.save(Document(id: "e"), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "e"])
        }
    }

    /// Runs a closure in a transaction that then fails.
    private static func failing(_ database: Database, _ body: () throws -> Void) throws {
        do {
            try database.transaction {
                try body()
                throw Refused()
            }
        } catch is Refused {}
    }

    @Test func `the rows of a failed transaction are not seen in a later one that reuses the numbers`() throws {
        try Self.each { database in
            func keys() throws -> [String] { try database.rows(of: Self.all).map(\.key) }
            try Self.failing(database) {
                try database.save(Document(id: "b"), onConflict: .fail)
                #expect(try keys() == ["a", "b"])
            }
            try database.save(Document(id: "c"), onConflict: .fail)
            try database.transaction {
                // The last change is one of the same document, so the index can't tell that the others differ.
                try database.save(Document(id: "b"), onConflict: .fail)
                #expect(try keys() == ["a", "b", "c"])
                try Self.failing(database) {
                    try database.save(Document(id: "d"), onConflict: .fail)
                    #expect(try keys() == ["a", "b", "c", "d"])
                }
                try database.save(Document(id: "e"), onConflict: .fail)
                try database.save(Document(id: "d"), onConflict: .fail)
                #expect(try keys() == ["a", "b", "c", "d", "e"])
            }
            #expect(try keys() == ["a", "b", "c", "d", "e"])
            try database.transaction {
                try database.save(Document(id: "f"), onConflict: .fail)
                #expect(try keys() == ["a", "b", "c", "d", "e", "f"])
            }
        }
    }

    @Test func `rows read in a snapshot of an older state leave the current rows unchanged`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder.path + "/rows.settle")
        try database.save(Document(id: "a"), onConflict: .fail)
        try database.snapshot {
            #expect(try database.document("a") != nil)
            try database.save(Document(id: "b"), onConflict: .fail)
            _ = try database.rows(of: Self.all)
        }
        #expect(try database.rows(of: Self.all).map(\.key) == ["a", "b"])
        try database.snapshot {
            #expect(try database.document("a") != nil)
            try database.purge("a")
            _ = try database.rows(of: Self.all)
        }
        #expect(try database.rows(of: Self.all).map(\.key) == ["b"])
    }

    @Test func `a purge and an edit after it are seen at once`() throws {
        try Self.each { database in
            try database.purge("a")
            #expect(try database.rows(of: Self.all).isEmpty)
            try database.save(Document(id: "a", body: ["n": 2]), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.value) == [2])
        }
    }
}
