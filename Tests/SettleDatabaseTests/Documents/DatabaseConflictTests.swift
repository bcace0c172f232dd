import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseConflictTests {
    // SEMANTICS 59, 60, 61, 143
    @Test(arguments: Kinds.all)
    func `two edits on one peer and one on another are two live leaves`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let base = try database.set("a", "v", 1).revision
            let local = try [2, 3, 4].map { try database.set("a", "v", $0) }
            let first = try #require(base)
            let theirs = try RevisionHistory(
                start: 2, signatures: [RevisionID(validating: "2-y").signature, first.signature])
            try database.insertReplicated([peer("a", theirs, ["v": "y"])])
            #expect(try database.document("a") == local.last)
            #expect(try database.leaves(of: "a").map { $0["v"] } == [4, "y"])
            #expect(try database.conflictedDocumentIDs() == ["a"])
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 62, 63
    @Test(arguments: Kinds.all)
    func `the winner does not depend on the order of arrival`(kind: DatabaseKind) throws {
        let revisions = [
            peer("a", try path("2-b", "a"), ["v": "b"]), peer("a", try path("2-c", "a"), ["v": "c"]),
            peer("a", try path("10-a", "z"), ["v": "ten"]), peer("a", try path("12-z", "y"), isDeleted: true),
        ]
        for order in permutations(of: revisions) {
            try withTemporaryDatabase(kind) { database in
                for revision in order { try database.insertReplicated([revision]) }
                #expect(try database.document("a")?["v"] == "ten")
                #expect(try database.leafNames("a") == ["10-a", "2-c", "2-b", "12-z"])
                #expect(try database.leaves(of: "a").map { $0["v"] } == ["ten", "c", "b", nil])
                #expect(try database.problems() == [])
            }
        }
    }

    // SEMANTICS 64, 65
    @Test(arguments: Kinds.all)
    func `signatures of 32 digits compare as bytes, whatever their case`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let high = String(repeating: "f", count: 32)
            try database.insertReplicated([
                peer("a", try path("1-\(high)"), ["v": "f"]), peer("a", try path("1-g"), ["v": "g"]),
            ])
            #expect(try database.document("a")?["v"] == "f")
            let again = try database.insertReplicated([peer("a", try path("1-\(high.uppercased())"))])
            #expect(again.map(\.word) == ["known"])
            #expect(try database.insertReplicated([peer("a", try path("1-G"))]).map(\.word) == ["stored"])
        }
    }

    // SEMANTICS 66, 67
    @Test(arguments: Kinds.all)
    func `exactly the documents with two live leaves are listed, each once`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for id: DocumentID in ["three", "two"] {
                for leaf in ["1-a", "1-b"] { try database.insertReplicated([peer(id, try path(leaf))]) }
            }
            try database.insertReplicated([
                peer("three", try path("1-c")), peer("one", try path("1-a")), peer("closed", try path("1-a")),
                peer("closed", try path("1-b"), isDeleted: true), peer("gone", try path("1-a"), isDeleted: true),
                peer("gone", try path("1-b"), isDeleted: true),
            ])
            #expect(try database.conflictedDocumentIDs() == ["three", "two"])
            #expect(try database.conflictedDocumentIDs(limit: 1) == ["three"])
            #expect(try database.conflictedDocumentIDs(after: "three") == ["two"])
            #expect(try database.info().conflicts == 2)
            try database.delete("two")
            #expect(try database.conflictedDocumentIDs() == ["three"])
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 145
    @Test(arguments: Kinds.all)
    func `a conflicting leaf can be edited, and its content is shown when it wins`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.insertReplicated([
                peer("a", try path("2-b", "a"), ["v": "b"]), peer("a", try path("2-c", "a"), ["v": "c"]),
            ])
            var loser = try #require(try database.leaves(of: "a").last)
            loser["v"] = "edited"
            let saved = try database.save(loser, onConflict: .fail)
            #expect(try database.document("a") == saved)
            #expect(try database.document("a", revision: RevisionID(validating: "2-c"))?["v"] == "c")
            #expect(try database.document("a", revision: RevisionID(validating: "2-b"))?["v"] == "b")
            #expect(try database.document("a", revision: RevisionID(validating: "1-a")) == nil)
            #expect(try database.leaves(of: "a").map { $0["v"] } == ["edited", "c"])
            #expect(try database.problems() == [])
            try database.delete(saved, onConflict: .fail)
            #expect(try database.document("a")?["v"] == "c")
            #expect(try database.problems() == [])
        }
    }
}

/// All orders of a few elements.
private func permutations<Element>(of elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(of: rest).map { [first] + $0 }
    }
}
