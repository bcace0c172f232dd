import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

@Suite struct DatabaseDeleteTests {
    // SEMANTICS 198
    @Test(arguments: Kinds.all)
    func `a deletion leaves an empty tombstone`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let document = try database.add("a", .empty)
            let tombstone = try #require(try database.delete(document, onConflict: .fail))
            #expect(tombstone.revision?.description == "2-eec205a9d413992850a6e32678485900")
            #expect(tombstone.isDeleted)
            #expect(try tombstone.body() == .empty)
            #expect(try database.document("a") == nil)
            let revision = try #require(tombstone.revision)
            #expect(try database.document("a", revision: revision) == tombstone)
            #expect(try database.info().documents == DocumentCounts(live: 0, deleted: 1))
            #expect(try database.documents().isEmpty)
        }
    }

    // SEMANTICS 131
    @Test(arguments: Kinds.all)
    func `a filter passes a deletion only if the tombstone keeps the member it reads`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("plain", ["worker_id": 7, "x": 1])
            try database.add("kept", ["worker_id": 7, "x": 1])
            try database.delete("plain")
            try database.delete("kept", keeping: ["worker_id", "absent"])
            let passed = try database.changes(includingDocuments: true) { $0.document?["worker_id"] == 7 }
            #expect(passed.map(\.id) == ["kept"])
            #expect(passed.map(\.isDeleted) == [true])
            #expect(try passed.first?.document?.body() == ["worker_id": 7])
        }
    }

    // SEMANTICS 131, K19
    @Test(arguments: Kinds.all)
    func `the members kept on delete are a setting of the database and persist`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind)
        try temporary.database.setAttributesKeptOnDelete(["type", "a,\"b"])
        try temporary.reopen()
        let database = temporary.database
        #expect(try database.attributesKeptOnDelete() == ["type", "a,\"b"])
        try database.add("a", ["n": 1, "type": "t", "owner": "o", "a,\"b": nil])
        let tombstone = try database.delete("a", keeping: ["owner"])
        #expect(try tombstone?.body() == ["type": "t", "owner": "o", "a,\"b": nil])
        try database.setAttributesKeptOnDelete([])
        #expect(try database.attributesKeptOnDelete().isEmpty)
        #expect(try database.problems() == [])
    }

    // SEMANTICS 131
    @Test(arguments: Kinds.all)
    func `a tombstone may keep all members, and have additional ones`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let body: DocumentBody = ["a": 1, "$kept": true, "b": ["c": 2]]
            try database.add("a", body)
            #expect(try database.delete("a", keeping: .all)?.body() == ["a": 1, "b": ["c": 2]])
            try database.add("b", ["a": 1, "b": 2])
            let added = try database.delete("b", keeping: ["b"], adding: ["by": "anna", "b": 3])
            #expect(try added?.body() == ["b": 3, "by": "anna"])
            let mine = try database.add("c", ["a": 1])
            try database.set("c", "a", 2)
            let late = try database.delete(mine, keeping: .all, adding: ["by": "anna"], onConflict: .lastWriteWins)
            #expect(try late?.body() == ["a": 2, "by": "anna"])
            #expect(try database.document("c", revision: #require(late?.revision))?["by"] == "anna")
            try database.add("d")
            #expect(code { try database.delete("d", adding: ["$closed": "1-a"]) } == .invalid)
            #expect(try database.document("d") != nil)
            try database.setAttributesKeptOnDelete(["x"])
            try database.add("e", ["x": 1, "y": 2])
            #expect(try database.delete("e", keeping: .all)?.body() == ["x": 1, "y": 2])
        }
    }

    // SEMANTICS 88
    @Test(arguments: Kinds.all)
    func `creating over a deleted document extends the winning tombstone`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let old = try database.add("a")
            let tombstone = try database.delete(old, onConflict: .fail)
            var stale = old
            stale["v"] = 2
            #expect(code { try database.save(stale, onConflict: .fail) } == .conflict)
            let revived = try database.add("a", ["back": true])
            let tree = try #require(try database.tree(of: "a"))
            let revision = try #require(revived.revision)
            #expect(revision.generation == 3)
            #expect(tree.parent(of: revision) == tombstone?.revision)
            #expect(tree.leaves.count == 1)
            #expect(try database.document("a") == revived)
        }
    }

    // SEMANTICS 88
    @Test(arguments: Kinds.all)
    func `of several tombstones the winner is extended`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.insertReplicated([
                peer("a", try path("2-b", "a"), isDeleted: true), peer("a", try path("3-c", "y", "x"), isDeleted: true),
            ])
            let revived = try database.add("a")
            #expect(revived.revision?.generation == 4)
            #expect(try database.leaves(of: "a").map(\.isDeleted) == [false, true])
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 201
    @Test(arguments: Kinds.all)
    func `a deletion in a conflicted document removes one leaf`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.insertReplicated([
                peer("a", try path("2-b", "a"), ["v": "b"]), peer("a", try path("2-c", "a"), ["v": "c"]),
            ])
            try database.delete("a")
            #expect(try database.document("a")?["v"] == "b")
            #expect(try database.conflictedDocumentIDs().isEmpty)
            #expect(try database.info().documents == DocumentCounts(live: 1, deleted: 0))
            try database.delete("a")
            #expect(try database.document("a") == nil)
            #expect(try database.leaves(of: "a").map(\.isDeleted) == [true, true])
            #expect(try database.info().documents == DocumentCounts(live: 0, deleted: 1))
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 201
    @Test(arguments: Kinds.all)
    func `a deletion of a losing leaf leaves the winner as it is`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.insertReplicated([
                peer("a", try path("2-b", "a"), ["v": "b"]), peer("a", try path("2-c", "a"), ["v": "c"]),
            ])
            let leaves = try database.leaves(of: "a")
            try database.delete(leaves[1], onConflict: .fail)
            #expect(try database.document("a") == leaves[0])
            #expect(try database.conflictedDocumentIDs().isEmpty)
            let tombstone = try #require(try database.leaves(of: "a").last?.revision)
            #expect(try database.tree(of: "a")?.parent(of: tombstone) == leaves[1].revision)
            #expect(try database.problems() == [])
        }
    }
}
