import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

@Suite struct DatabasePurgeTests {
    private func conflicted(_ database: Database) throws {
        try database.insertReplicated([
            peer("a", try path("3-d", "b", "a"), ["v": "d"]), peer("a", try path("3-c", "b", "a"), ["v": "c"]),
            peer("a", try path("2-z", "y"), ["v": "z"]),
        ])
    }

    @Test(arguments: Kinds.all)
    func `purging a losing leaf drops the ancestors of this leaf alone`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try conflicted(database)
            let asked = try ["2-z", "2-b"].map { try RevisionID(validating: $0) }
            let gone = try database.purge("a", revisions: asked)
            #expect(gone.map(\.description) == ["2-z"])
            #expect(try database.tree(of: "a")?.revisions.map(\.description).sorted() == ["1-a", "2-b", "3-c", "3-d"])
            #expect(try database.document("a")?["v"] == "d")
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `purging the winner makes the next leaf the winner, with its content`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try conflicted(database)
            let before = try database.lastSequence()
            try database.purge("a", revisions: [RevisionID(validating: "3-d")])
            #expect(try database.document("a")?["v"] == "c")
            #expect(try database.lastSequence() > before)
            #expect(try database.leaves(of: "a").map { $0["v"] } == ["c", "z"])
            try database.purge("a", revisions: [RevisionID(validating: "3-c")])
            #expect(try database.document("a")?["v"] == "z")
            #expect(try database.conflictedDocumentIDs().isEmpty)
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `a purged document leaves no trace`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try conflicted(database)
            #expect(try database.purge("a").count == 3)
            #expect(try database.purge("a") == [])
            #expect(try database.tree(of: "a") == nil)
            #expect(try database.info().documents == DocumentCounts())
            #expect(try database.changes().isEmpty)
            #expect(try database.add("a").revision?.generation == 1)
            let again = try database.insertReplicated([peer("a", try path("3-d", "b", "a"), ["v": "d"])])
            #expect(again.map(\.word) == ["stored"])
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `purging inner and unknown revisions changes nothing`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try conflicted(database)
            let before = try database.lastSequence()
            let asked = try ["2-b", "9-q"].map { try RevisionID(validating: $0) }
            #expect(try database.purge("a", revisions: asked) == [])
            #expect(try database.purge("none", revisions: [RevisionID(validating: "2-b")]) == [])
            #expect(try database.lastSequence() == before)
        }
    }
}
