import Settle
import SettleTesting
import Testing

/// Deletions beside later edits, or edits from another peer.
@Suite struct RevivalTests {
    @Test func `a document revived over two deletions is not deleted by a replica that saw only one of them`() throws {
        try withDatabases(3) { databases in
            let (a, b, c) = (databases[0], databases[1], databases[2])
            try a.add("d", ["v": 1])
            try b.pull(from: a)
            try c.pull(from: a)
            try a.delete("d")
            try c.pull(from: a)  // c knows a's deletion
            try b.set("d", "v", 2)
            try b.delete("d")
            try a.pull(from: b)  // two tombstones
            #expect(try a.document("d") == nil)
            try a.add("d", ["v": "revived"])
            #expect(try a.conflict(of: "d") == nil)
            try c.pull(from: a)
            #expect(try c.conflict(of: "d") == nil)
            try c.settle("d", using: .deletesWin)
            #expect(try c.document("d")?["v"] == "revived")
            try a.pull(from: c)
            #expect(try a.document("d")?["v"] == "revived")
        }
    }

    @Test func `a deletion and an edit are not both closed in favour of each other`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            try a.add("d")
            try b.pull(from: a)
            try a.delete("d")
            try b.set("d", "v", 2)
            try exchange([a, b])
            try a.settle("d", using: .localWins)  // the deletion
            try b.settle("d", using: .localWins)  // the edit
            try exchange([a, b])
            // Some answer should stand: a live leaf, or an open deletion that is marked as one.
            let tree = try #require(try a.tree(of: "d"))
            #expect(tree.leaves.contains { !$0.marks.contains(.closing) })
        }
    }

    @Test func `saveAll writes nothing of a document that it reports as refused`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            try database.insertReplicated([
                peer("d", path("2-t", "a"), isDeleted: true),
                peer("d", path("3-x", "y", "a"), ["$closed": "2-t"], isDeleted: true),
            ])
            database.addValidation("typed") { context in
                if context.newRevision["type"] == nil { throw DocumentRejection() }
            }
            let before = try database.lastSequence()
            let typed: DocumentBody = ["type": "t"]
            let results = try database.saveAll(
                [Document(id: "a", body: typed), Document(id: "d", body: ["v": 1]), Document(id: "b", body: typed)],
                onConflict: .fail)
            let error = #expect(throws: DatabaseError.self) { try results[1].get() }
            #expect(error?.code == .refused)
            #expect(try database.document("d") == nil)
            #expect(try database.documents().map(\.id) == ["a", "b"])
            #expect(try database.lastSequence().number == before.number + 2)
            // A document that the validation accepts is revived with its closed branch.
            let revived = try database.saveAll([Document(id: "d", body: typed)], onConflict: .fail)
            #expect(throws: Never.self) { try revived[0].get() }
            #expect(try database.document("d")?.body() == typed)
        }
    }

    @Test func `a user's deletion with a member called $closed is a deletion`() throws {
        try withDatabases(2) { databases in
            let (a, b) = (databases[0], databases[1])
            try a.add("d", ["$closed": "2-b", "v": 1])
            try b.pull(from: a)
            let document = try #require(try a.document("d"))
            try a.delete(document, keeping: ["$closed"], onConflict: .fail)
            try b.set("d", "v", 2)
            try exchange([a, b])
            #expect(try a.conflict(of: "d")?.kind == .deletion)
        }
    }

    @Test func `a fast-forward of a settled document is not a remote side`() throws {
        try withDatabases(1) { databases in
            let database = databases[0]
            // Settled long ago: only a closed branch remains.
            try database.insertReplicated([
                peer("d", path("2-b", "a"), ["v": 1]),
                peer("d", path("3-x", "c", "a"), ["$closed": "2-b"], isDeleted: true),
            ])
            // The user's edit arrived as a plain update ...
            try database.insertReplicated([peer("d", path("3-s", "b", "a"), ["v": "screen"])])
            // ... and then another edit arrives.
            try database.insertReplicated([peer("d", path("3-n", "b", "a"), ["v": "new"])])
            let conflict = try #require(try database.conflict(of: "d"))
            #expect(conflict.local?["v"] == "screen")
            #expect(conflict.remote?["v"] == "new")
            let seen = Seen()
            try database.settle(
                "d",
                using: .couchbaseLite { _, local, remote in
                    seen.note("\(local?["v"]?.string ?? "-") \(remote?["v"]?.string ?? "-")")
                    return remote
                })
            #expect(seen.all == ["screen new"])
        }
    }

    @Test(arguments: [200, 1000])
    func `a conflict of many entangled leaves can be read`(teeth: Int) throws {
        try withDatabases(1) { databases in
            try storeComb(in: databases[0], teeth: teeth)
            #expect(try databases[0].conflict(of: "d")?.leaves.count == teeth)
        }
    }
}
