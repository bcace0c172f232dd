import PostgresTesting
import Settle
import SettleTesting
import Testing

/// An update that is repeated when another writer was faster.
@Suite struct DatabaseUpdateTests {
    private struct Refused: Error {}

    // SEMANTICS 146
    @Test(arguments: Kinds.all)
    func `concurrent saves by others are kept, and the closure is called again with them`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a", ["n": 1])
            let calls = Log<JSONValue>()
            let saved = try database.updateIfNeeded("a") { document in
                calls.add(document["n"] ?? .null)
                if calls.values.count < 3 { try database.set("a", "n", .number(JSONNumber(10 * calls.values.count))) }
                document["n"] = .number(JSONNumber((document["n"]?.int ?? 0) + 1))
                return true
            }
            #expect(calls.values == [1, 10, 20])
            #expect(saved?["n"] == 21 && saved?.revision?.generation == 4)
            #expect(try database.document("a") == saved)
            #expect(try database.tree(of: "a")?.leaves.count == 1)
        }
    }

    // SEMANTICS 146
    @Test(arguments: Kinds.all)
    func `returning false changes nothing, without an error`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a", ["n": 1])
            let before = try database.lastSequence()
            let saved = try database.updateIfNeeded("a") { document in
                document["n"] = 2
                return false
            }
            #expect(saved == nil)
            #expect(throws: Refused.self) { try database.updateIfNeeded("a") { _ in throw Refused() } }
            #expect(
                code {
                    try database.updateIfNeeded("a") { document in
                        document = Document(id: "b")
                        return true
                    }
                } == .invalid)
            #expect(try database.lastSequence() == before)
            #expect(try database.document("a")?["n"] == 1)
        }
    }

    // SEMANTICS 146
    @Test(arguments: Kinds.all)
    func `a missing or deleted document is created, also when it is deleted meanwhile`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            func count(_ document: inout Document) {
                document["n"] = .number(JSONNumber((document["n"]?.int ?? 0) + 1))
            }
            #expect(try database.updateOrCreate("a", count).revision?.generation == 1)
            #expect(try database.updateOrCreate("a", count)["n"] == 2)
            try database.delete("a")
            let revived = try database.updateOrCreate("a") { document in
                #expect(document.revision == nil)
                count(&document)
            }
            #expect(revived.revision?.generation == 4)
            let calls = Log<Int>()
            let saved = try database.updateOrCreate("a") { document in
                calls.add(document["n"]?.int ?? 0)
                if calls.values.count == 1 { try database.delete("a") }
                if calls.values.count == 2 { try database.purge("a") }
                count(&document)
            }
            #expect(calls.values == [1, 0])
            #expect(saved["n"] == 1)
            try database.transaction { _ = try database.updateOrCreate("a", count) }
            #expect(try database.document("a")?["n"] == 2)
        }
    }

    @Test(arguments: Kinds.all)
    func `an update of a missing or deleted document throws and writes nothing, with a model and without`(
        kind: DatabaseKind
    ) throws {
        struct Counter: Codable { var n: Int }
        try withTemporaryDatabase(kind) { database in
            try database.add("deleted", ["n": 1])
            try database.delete("deleted")
            let before = try database.lastSequence()
            for id in ["missing", "deleted"] {
                let calls = Log<String>()
                #expect(code { try database.update(id) { _ in calls.add(id) } } == .notFound)
                let changed: (inout Document) -> Bool = { _ in
                    calls.add(id)
                    return true
                }
                #expect(code { try database.updateIfNeeded(id, changed) } == .notFound)
                let named = try DocumentID(validating: id)
                #expect(code { try database.update(named, as: Counter.self) { $0.n += 1 } } == .notFound)
                #expect(calls.values.isEmpty)
            }
            #expect(try database.lastSequence() == before)
        }
    }

    @Test func `threads that count concurrently lose no count`() async throws {
        let temporary = try TemporaryDatabase(.file)
        let database = temporary.database
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await database.perform { database in
                        for _ in 0..<50 {
                            try database.updateOrCreate("n") { document in
                                document["n"] = .number(JSONNumber((document["n"]?.int ?? 0) + 1))
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.document("n")?["n"] == 200)
    }
}
