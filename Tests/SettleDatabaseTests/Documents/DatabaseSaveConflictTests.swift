import Settle
import SettleTesting
import Testing

/// Read, somebody else writes, save.
@Suite struct DatabaseSaveConflictTests {
    private func raced(_ database: Database) throws -> Document {
        var mine = try database.add("a", ["v": 1])
        try database.set("a", "v", "theirs")
        mine["v"] = "mine"
        return mine
    }

    // SEMANTICS 46, 49
    @Test(arguments: DatabaseKind.allCases)
    func `the last write wins on one branch`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let saved = try database.save(try raced(database), onConflict: .lastWriteWins)
            #expect(saved.revision?.generation == 3)
            #expect(try database.document("a")?["v"] == "mine")
            #expect(try database.tree(of: "a")?.leaves.count == 1)
            #expect(try database.tree(of: "a")?.count == 3)
        }
    }

    // SEMANTICS 47, 145
    @Test(arguments: DatabaseKind.allCases)
    func `a stale save fails, writes nothing, and can be repeated`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try raced(database)
            let before = try database.lastSequence()
            #expect(code { try database.save(mine, onConflict: .fail) } == .conflict)
            #expect(try database.lastSequence() == before)
            #expect(try database.document("a")?["v"] == "theirs")
            try database.set("a", "v", "mine")
            #expect(try database.document("a")?["v"] == "mine")
        }
    }

    // SEMANTICS 48, 50
    @Test(arguments: DatabaseKind.allCases)
    func `a stale delete fails or wins`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try raced(database)
            #expect(code { try database.delete(mine, onConflict: .fail) } == .conflict)
            #expect(try database.document("a") != nil)
            let tombstone = try database.delete(mine, onConflict: .lastWriteWins)
            #expect(tombstone?.revision?.generation == 3)
            #expect(try database.document("a") == nil)
            #expect(try database.tree(of: "a")?.leaves.count == 1)
        }
    }

    // SEMANTICS 50
    @Test(arguments: DatabaseKind.allCases)
    func `a save over a deletion revives the document or fails`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            try database.delete("a")
            #expect(code { try database.save(mine, onConflict: .fail) } == .conflict)
            #expect(try database.document("a") == nil)
            let saved = try database.save(mine, onConflict: .lastWriteWins)
            #expect(saved.revision?.generation == 3)
            #expect(try database.document("a") == saved)
        }
    }

    // SEMANTICS 51
    @Test(arguments: DatabaseKind.allCases)
    func `deleting what is gone is a success, deleting what never was is not found`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            try database.delete("a")
            let before = try database.lastSequence()
            #expect(try database.delete(mine, onConflict: .lastWriteWins) == nil)
            #expect(code { try database.delete(mine, onConflict: .fail) } == .conflict)
            try database.purge("a")
            let purged = try database.lastSequence()
            #expect(try database.delete(mine, onConflict: .lastWriteWins) == nil)
            #expect(code { try database.delete(mine, onConflict: .fail) } == .notFound)
            #expect(try database.lastSequence() == purged)
            #expect(purged > before)
            for conflict in [SaveConflict.fail, .lastWriteWins, .merge { _, _ in true }] {
                #expect(code { try database.delete(Document(id: "never"), onConflict: conflict) } == .notFound)
            }
            #expect(code { try database.delete("never") } == .notFound)
        }
    }

    // SEMANTICS 57
    @Test(arguments: DatabaseKind.allCases)
    func `a save of a document purged meanwhile is not found and asks no handler`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            try database.purge("a")
            let calls = Log<Int>()
            let merge = SaveConflict.merge { _, _ in
                calls.add(1)
                return true
            }
            #expect(code { try database.save(mine, onConflict: merge) } == .notFound)
            #expect(code { try database.save(mine, onConflict: .fail) } == .notFound)
            #expect(calls.values.isEmpty)
            #expect(try database.save(mine, onConflict: .lastWriteWins).revision?.generation == 1)
        }
    }

    // SEMANTICS 145
    @Test(arguments: DatabaseKind.allCases)
    func `a new document does not replace one that is there`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a")
            #expect(code { try database.add("a") } == .conflict)
            let over = try database.save(Document(id: "a", body: ["n": 1]), onConflict: .lastWriteWins)
            #expect(over.revision?.generation == 2)
        }
    }
}
