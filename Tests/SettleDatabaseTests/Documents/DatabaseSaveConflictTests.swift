import PostgresTesting
import Settle
import SettleTesting
import Testing

/// Read, another writer saves, save.
@Suite struct DatabaseSaveConflictTests {
    private func raced(_ database: Database, _ id: DocumentID = "a") throws -> Document {
        var mine = try database.add(id, ["v": 1])
        try database.set(id, "v", "theirs")
        mine["v"] = "mine"
        return mine
    }

    // SEMANTICS 46, 49, K5
    @Test(arguments: Kinds.all)
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
    @Test(arguments: Kinds.all)
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
    @Test(arguments: Kinds.all)
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

    // SEMANTICS 50, K6
    @Test(arguments: Kinds.all)
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

    // SEMANTICS 50: that deletions win in replication does not apply to a save, unless the save says so.
    @Test(arguments: Kinds.all)
    func `a deletion wins over a save where the save says so, and a new document is no such save`(
        kind: DatabaseKind
    ) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try database.add("a")
            try database.delete("a")
            #expect(code { try database.save(mine, onConflict: .deletesWin) } == .conflict)
            #expect(try database.saveAll([mine], onConflict: .deletesWin).count == 1)
            #expect(try database.document("a") == nil)
            #expect(try database.delete(mine, onConflict: .deletesWin) == nil)
            // A save of a client that has seen the deletion, or never saw the document, does not contradict it.
            let revived = try database.save(Document(id: "a", body: ["n": 1]), onConflict: .deletesWin)
            #expect(revived.revision?.generation == 3)
            var seen = try #require(try database.delete("a"))
            seen["n"] = 2
            #expect(try database.save(seen, onConflict: .deletesWin).revision?.generation == 5)
            let raced = try raced(database, "b")
            #expect(try database.save(raced, onConflict: .deletesWin).revision?.generation == 3)
            #expect(try database.document("b")?["v"] == "mine")
            #expect(try database.delete(raced, onConflict: .deletesWin)?.revision?.generation == 4)
            try database.purge("b")
            #expect(code { try database.save(raced, onConflict: .deletesWin) } == .notFound)
        }
    }

    // SEMANTICS 145
    @Test(arguments: Kinds.all)
    func `a branch keeps both edits, and makes the revision that a peer would have made`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let mine = try raced(database)
            let branch = try database.save(mine, onConflict: .branch)
            let tree = try #require(try database.tree(of: "a"))
            let revision = try #require(branch.revision)
            #expect(revision.generation == 2 && tree.parent(of: revision) == mine.revision)
            #expect(tree.leaves.count == 2 && tree.isConflicted)
            #expect(try database.document("a", revision: revision)?["v"] == "mine")
            #expect(try database.conflictedDocumentIDs() == ["a"])
            // Saving the same again gives the same revision.
            #expect(try database.save(mine, onConflict: .branch).revision == branch.revision)
            #expect(try database.tree(of: "a")?.count == 3)
            try withTemporaryDatabase(kind) { other in
                _ = try other.add("a", ["v": 1])
                #expect(try other.set("a", "v", "mine").revision == branch.revision)
            }
            // On a leaf it is an ordinary edit.
            var next = branch
            next["v"] = "next"
            #expect(try database.save(next, onConflict: .branch).revision?.generation == 3)
            #expect(try database.tree(of: "a")?.leaves.count == 2)
        }
    }

    // SEMANTICS 145
    @Test(arguments: Kinds.all)
    func `a branch may create a document again, delete, and stand beside a deletion`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let first = try database.add("a", ["v": 1])
            let second = try database.save(Document(id: "a", body: ["v": 2]), onConflict: .branch)
            #expect(second.revision?.generation == 1 && first.revision != second.revision)
            #expect(try database.save(Document(id: "a", body: ["v": 2]), onConflict: .branch) == second)
            #expect(try database.tree(of: "a")?.leaves.count == 2)

            let raced = try raced(database, "b")
            let tombstone = try #require(try database.delete(raced, onConflict: .branch))
            #expect(tombstone.revision?.generation == 2)
            #expect(try database.document("b")?["v"] == "theirs")
            #expect(try database.tree(of: "b")?.leaves.map(\.isDeleted) == [false, true])

            let deleted = try database.add("c", ["v": 1])
            try database.delete("c")
            var edit = deleted
            edit["v"] = 2
            try database.save(edit, onConflict: .branch)
            #expect(try database.document("c")?["v"] == 2)
            #expect(try database.conflict(of: "c", kinds: [.deletion]) != nil)

            let unknown = try database.add("d", ["v": 1])
            try database.purge("d")
            try database.add("d", ["v": 2])
            #expect(code { try database.save(unknown, onConflict: .branch) } == .notFound)
            #expect(code { try database.delete(unknown, onConflict: .branch) } == .notFound)
            #expect(try database.save(Document(id: "new"), onConflict: .branch).revision?.generation == 1)
        }
    }

    // SEMANTICS 51
    @Test(arguments: Kinds.all)
    func `deleting a deleted document succeeds, deleting a missing one is not found`(kind: DatabaseKind) throws {
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
    @Test(arguments: Kinds.all)
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
    @Test(arguments: Kinds.all)
    func `a new document does not replace an existing one`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a")
            #expect(code { try database.add("a") } == .conflict)
            let over = try database.save(Document(id: "a", body: ["n": 1]), onConflict: .lastWriteWins)
            #expect(over.revision?.generation == 2)
        }
    }
}
