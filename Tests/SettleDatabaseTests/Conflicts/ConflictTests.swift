import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

@testable import SettleDatabase

@Suite struct ConflictTests {
    // SEMANTICS 1, 2
    @Test func `changes to one revision on two peers conflict once they meet, others never do`() throws {
        try withTwoDatabases { first, second in
            try first.add("shared")
            try second.pull(from: first)
            try first.set("shared", "v", 2)
            try second.set("shared", "v", 3)
            try first.add("mine")
            try second.add("theirs")
            #expect(try first.conflict(of: "shared") == nil)
            #expect(try second.conflict(of: "shared") == nil)
            try first.pull(from: second)
            #expect(try first.conflictedDocumentIDs() == ["shared"])
            #expect(try second.conflictedDocumentIDs() == [])
        }
    }

    // SEMANTICS 5, 6
    @Test func `known revisions, ancestors, fast-forwards and equal edits are no conflicts`() throws {
        try withTwoDatabases { first, second in
            try first.add("a")
            try second.pull(from: first)
            try first.set("a", "v", 2)
            try second.pull(from: first)
            try first.pull(from: second)
            try first.set("a", "v", 3)
            try second.set("a", "v", 3)
            #expect(try first.pull(from: second) == 0)
            #expect(try first.conflict(of: "a") == nil)
            #expect(try second.pull(from: first) == 0)
            let root = try #require(try first.tree(of: "a")?.revisions.first)
            let known = try first.insertReplicated([
                peer("a", RevisionHistory(start: 1, signatures: [root.signature]), ["v": 1])
            ])
            #expect(known.map(\.word) == ["known"])
            #expect(try first.conflict(of: "a") == nil)
        }
    }

    // SEMANTICS 60, 61, 68
    @Test func `a conflict has all live leaves with their contents, the winner first, and the base`() throws {
        try withTwoDatabases { first, second in
            let base = try first.add("a", ["v": 1])
            try second.pull(from: first)
            for value in [2, 3] { try first.set("a", "v", .number(JSONNumber(value))) }
            try second.set("a", "v", "y")
            try first.pull(from: second)
            let conflict = try #require(try first.conflict(of: "a"))
            #expect(conflict.kind == .branches)
            #expect(conflict.leaves.map { $0["v"] } == [3, "y"])
            #expect(try conflict.winner == first.document("a"))
            #expect(conflict.base == base)
            #expect(conflict.local?["v"] == 3)
            #expect(conflict.remote?["v"] == "y")
            try second.pull(from: first)
            let other = try #require(try second.conflict(of: "a"))
            #expect(other.leaves == conflict.leaves)
            #expect(other.local?["v"] == "y")
            #expect(other.remote?["v"] == 3)
        }
    }

    @Test func `the local and the remote leaf are remembered across closing and opening`() throws {
        let temporary = try TemporaryDatabase(.file)
        try temporary.database.makeConflict("a")
        try temporary.reopen()
        let conflict = try #require(try temporary.database.conflict(of: "a"))
        #expect(conflict.local?["v"] == "here")
        #expect(conflict.remote?["v"] == "there")
    }

    // SEMANTICS 66, 67
    @Test func `tombstones beside a live leaf are not a conflict between branches`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("a", path("2-b", "a"), ["v": 1]), peer("a", path("3-x", "c", "z"), isDeleted: true),
                peer("gone", path("2-b", "a"), isDeleted: true), peer("gone", path("2-c", "a"), isDeleted: true),
            ])
            #expect(try database.conflict(of: "a") == nil)
            #expect(try database.conflict(of: "gone") == nil)
            #expect(try database.conflictedDocumentIDs(.branches) == [])
            #expect(try database.conflictedDocumentIDs(.deletion) == [])
            #expect(try database.conflict(of: "unknown") == nil)
        }
    }

    @Test func `compaction keeps the base while the conflict exists`() throws {
        try withTemporaryDatabase(.file) { database in
            try database.makeConflict("a")
            try database.compact()
            #expect(try database.conflict(of: "a")?.base?["v"] == 0)
            try database.settle("a", using: .mostRevisions)
            try database.compact()
            let base = try #require(try database.tree(of: "a")?.revisions.first)
            #expect(try database.document("a", revision: base) == nil)
            #expect(try database.problems() == [])
        }
    }

    @Test func `leaves that fill the memory together are not read, and the error says so`() throws {
        var copy = DocumentCopy("a")
        // All share one text in memory here.
        let large = RevisionContent(body: try DocumentBody(["text": .string(String(repeating: "x", count: 1 << 20))]))
        for n in 1...260 {
            let signature = String(format: "%032x", n)
            copy.insert(RevisionHistory(try #require(RevisionID("1-\(signature)"))), isDeleted: false, large)
        }
        let error = #expect(throws: DatabaseError.self) { try copy.conflict() }
        #expect(error?.code == .invalid && error?.message.contains("more than 256 MiB together") == true)
    }
}
