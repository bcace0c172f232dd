import PostgresTesting
import Settle
import SettleTesting
import Testing

/// Which tombstones are users' deletions.
@Suite struct DisputedDeletionTests {
    // SEMANTICS 7, K2 (ii)
    @Test func `a tombstone whose parent is an ancestor of the live leaf is a deletion`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("a", path("4-d", "c", "b", "a"), ["v": 4]), peer("a", path("2-t", "a"), isDeleted: true),
            ])
            let conflict = try #require(try database.conflict(of: "a"))
            #expect(conflict.kind == .deletion)
            #expect(conflict.leaves.map { $0.revision?.description } == ["4-d", "2-t"])
            #expect(try database.conflictedDocumentIDs(.deletion) == ["a"])
            #expect(try database.conflictedDocumentIDs(.branches) == [])
            #expect(try database.settle("a", using: .deletesWin).survivor == RevisionID("2-t"))
            #expect(try database.document("a") == nil)
        }
    }

    // SEMANTICS K2 (i)
    @Test func `a foreign peer's edit and deletion are a deletion if its own winner is deleted`() throws {
        for isDeletion in [true, false] {
            try withTemporaryDatabase(.plain) { database in
                var tombstone = try peer("a", path("3-t", "x", "a"), isDeleted: true)
                tombstone.isDeletionAtSource = isDeletion
                try database.insertReplicated([peer("a", path("2-b", "a"), ["v": 1]), tombstone])
                let isConflict = try database.conflict(of: "a") != nil
                #expect(isConflict == isDeletion)
                try database.settle("a", using: .deletesWin)
                let isGone = try database.document("a") == nil
                #expect(isGone == isDeletion)
                #expect(try database.problems() == [])
            }
        }
    }

    // SEMANTICS K2 (i): the mark is learnt of a tombstone that is known already.
    @Test func `a known tombstone becomes a deletion when its source reports it as one`() throws {
        try withTemporaryDatabase(.file) { database in
            var tombstone = try peer("a", path("3-t", "x", "a"), isDeleted: true)
            try database.insertReplicated([peer("a", path("2-b", "a"), ["v": 1]), tombstone])
            #expect(try database.conflictedDocumentIDs(.deletion) == [])
            let before = try database.lastSequence()
            tombstone.isDeletionAtSource = true
            #expect(try database.insertReplicated([tombstone]).map(\.word) == ["known"])
            #expect(try database.conflictedDocumentIDs(.deletion) == ["a"])
            #expect(try database.lastSequence().number == before.number + 1)
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS K2 (iii)
    @Test func `a tombstone by which a foreign peer closed a branch is not a deletion`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("a", path("3-b", "x", "a"), ["v": 1]), peer("a", path("3-t", "y", "a"), isDeleted: true),
            ])
            #expect(try database.settle("a", using: .deletesWin).outcome == .nothing)
            #expect(try database.document("a")?["v"] == 1)
        }
    }

    // SEMANTICS K2
    @Test func `a closed branch that a peer edited before it saw the settlement is not a deletion`() throws {
        try withTwoDatabases { first, second in
            try first.makeConflict("a")
            try second.pull(from: first)
            var losing = try #require(try second.leaves(of: "a").last)
            try first.settle("a", using: .mostRevisions)
            losing["v"] = "later"
            try second.save(losing, onConflict: .fail)
            try first.pull(from: second)
            #expect(try first.tree(of: "a")?.disputedDeletions == [])
            try first.settle("a", using: .deletesWin)
            #expect(try first.document("a")?["v"] == "later")
        }
    }

    // SEMANTICS K2: the trap that the mark is for.
    @Test func `deletes-win deletes a settled document on no replica`() throws {
        try withTwoDatabases { first, second in
            try first.makeConflict("a")
            try first.settle("a", using: .mostRevisions)
            try second.pull(from: first)
            for database in [first, second] {
                #expect(try database.conflictedDocumentIDs(.deletion) == [])
                #expect(try database.settle("a", using: .deletesWin).outcome == .nothing)
                #expect(try database.document("a") != nil)
            }
        }
    }

    @Test func `a local deletion against a remote edit is a deletion on both sides`() throws {
        try withDeletionAgainstEdit { (first, second) throws in
            #expect(try first.conflict(of: "a")?.local?.isDeleted == true)
            #expect(try second.conflict(of: "a")?.remote?.isDeleted == true)
            for database in [first, second] {
                #expect(try database.conflictedDocumentIDs(.deletion) == ["a"])
                #expect(try database.info().contested == 1)
                #expect(try database.problems() == [])
            }
        }
    }

    @Test func `deleting one leaf of a conflict manually does not delete the document`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a", here: ["v": "here"], there: ["v": "there"])
            try database.delete("a")
            #expect(try database.document("a") != nil)
            let tombstone = try #require(try database.tree(of: "a")?.leaves.last)
            #expect(tombstone.isDeleted && tombstone.marks == [])
        }
    }

    @Test func `a document that settling deleted can be revived everywhere`() throws {
        try withTwoDatabases { first, second in
            try first.add("a")
            try second.pull(from: first)
            try first.delete("a")
            try second.set("a", "v", 2)
            try first.pull(from: second)
            try first.settle("a", using: .deletesWin)
            #expect(try first.document("a") == nil)
            try first.add("a", ["v": "again"])
            #expect(try first.conflict(of: "a") == nil)
            // The second has never seen the tombstone that was revived.
            try second.pull(from: first)
            for database in [first, second] {
                #expect(try database.settle("a", using: .deletesWin).outcome == .nothing)
                #expect(try database.document("a")?["v"] == "again")
                #expect(try database.problems() == [])
            }
        }
    }
}
