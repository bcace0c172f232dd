import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseReplicatedTests {
    // SEMANTICS 199, 200
    @Test(arguments: Kinds.all)
    func `a replicated revision keeps its id, and is stored once`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let revision = peer("a", try path("3-c", "b", "a"), ["v": 1])
            #expect(try database.insertReplicated([revision, revision]).map(\.word) == ["stored", "known"])
            let before = try database.lastSequence()
            let other = peer("a", try path("3-c", "b", "a"), ["v": "another body"])
            #expect(try database.insertReplicated([other]).map(\.word) == ["known"])
            #expect(try database.lastSequence() == before)
            // An inner revision that was known only by id gets its content once, and counts as known from then on.
            let inner = [peer("a", try path("2-b", "a"), ["v": 0]), peer("a", try path("2-b", "a"), ["v": 9])]
            #expect(try database.insertReplicated(inner).map(\.word) == ["stored", "known"])
            #expect(try database.document("a", revision: RevisionID(validating: "2-b"))?["v"] == 0)
            #expect(try database.document("a")?["v"] == 1)
            #expect(try database.tree(of: "a")?.history(of: RevisionID(validating: "3-c"))?.signatures.count == 3)
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 199
    @Test(arguments: Kinds.all)
    func `a replicated write on a stale parent makes a branch without an error`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let histories = [try path("2-b", "a"), try path("2-c", "a"), try path("3-d", "b", "a")]
            for history in histories {
                #expect(try database.insertReplicated([peer("a", history)]).map(\.word) == ["stored"])
            }
            #expect(try database.leafNames("a") == ["3-d", "2-c"])
        }
    }

    // SEMANTICS 5
    @Test(arguments: Kinds.all)
    func `an edit made on both sides is one revision and not a conflict`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { here in
            try withTemporaryDatabase(kind) { there in
                try here.add("a")
                try there.add("a")
                try here.set("a", "v", 2)
                let theirs = try there.set("a", "v", 2)
                let revision = try #require(theirs.revision)
                let history = try #require(try there.tree(of: "a")?.history(of: revision))
                let outcome = try here.insertReplicated([peer("a", history, try theirs.body())])
                #expect(outcome.map(\.word) == ["known"])
                #expect(try here.conflictedDocumentIDs().isEmpty)
            }
        }
    }

    // SEMANTICS 117, 203
    @Test(arguments: Kinds.all)
    func `a refused revision is listed in its place and the others are stored`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            database.addValidation("even") { context in
                if context.newRevision["v"]?.int?.isMultiple(of: 2) == false {
                    throw DocumentRejection(status: 401, message: "odd")
                }
            }
            let outcomes = try database.insertReplicated([
                peer("a", try path("1-a"), ["v": 2]), peer("b", try path("1-a"), ["v": 3]),
                peer("_local/c", try path("1-a"), ["v": 4]), peer("d", try path("1-a"), ["v": 6]),
            ])
            #expect(outcomes.map(\.word) == ["stored", "refused", "invalid", "stored"])
            if case .refused(let error) = outcomes[1] {
                #expect((error.cause as? DocumentRejection) == DocumentRejection(status: 401, message: "odd"))
            }
            #expect(try database.documents().map(\.id) == ["a", "d"])
            #expect(try database.lastSequence() == 2)
        }
    }

    @Test(arguments: Kinds.all)
    func `the difference lists missing revisions and their possible ancestors`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.insertReplicated([
                peer("a", try path("3-c", "b", "a")), peer("a", try path("2-x", "a")), peer("b", try path("1-a")),
            ])
            let asked: [(id: DocumentID, revisions: [String])] = [
                ("b", ["1-a"]), ("a", ["3-c", "4-d", "3-z", "1-a"]), ("new", ["1-a"]), ("none", []),
            ]
            let rows = try database.revisionsDiff(
                asked.map { ($0.id, try $0.revisions.map { try RevisionID(validating: $0) }) })
            #expect(rows.map(\.id) == ["a", "new"])
            #expect(rows.map { $0.missing.map(\.description) } == [["4-d", "3-z"], ["1-a"]])
            #expect(rows.map { Set($0.possibleAncestors.map(\.description)) } == [["3-c", "2-x"], []])
        }
    }

    @Test(arguments: Kinds.all)
    func `marking as shared changes no sequence and persists`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind)
        let document = try temporary.database.add("a")
        let revision = try #require(document.revision)
        try temporary.database.markShared([("a", revision), ("unknown", revision)])
        #expect(try temporary.database.lastSequence() == 1)
        try temporary.reopen()
        #expect(try temporary.database.tree(of: "a")?[revision]?.isShared == true)
        #expect(try temporary.database.problems() == [])
    }

    // SEMANTICS 202
    @Test(arguments: Kinds.all)
    func `a stemmed path that shares no revision becomes a second root and is readable`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.setRevisionLimit(2)
            for generation in 1...6 { try database.set("a", "v", .number(JSONNumber(generation))) }
            #expect(try database.tree(of: "a")?.count == 2)
            try database.insertReplicated([peer("a", try path("4-z", "y"), ["v": "z"])])
            #expect(try database.document("a")?["v"] == 6)
            #expect(try database.leaves(of: "a").map { $0["v"] } == [6, "z"])
            #expect(try database.conflictedDocumentIDs() == ["a"])
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 202
    @Test(arguments: Kinds.all)
    func `the revision limit stems when a document is written`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind)
        for generation in 1...10 { try temporary.database.set("a", "v", .number(JSONNumber(generation))) }
        #expect(try temporary.database.revisionLimit() == 1000)
        #expect(code { try temporary.database.setRevisionLimit(0) } == .invalid)
        try temporary.database.setRevisionLimit(3)
        try temporary.reopen()
        let database = temporary.database
        #expect(try database.revisionLimit() == 3)
        #expect(try database.tree(of: "a")?.count == 10)
        try database.set("a", "v", 11)
        #expect(try database.tree(of: "a")?.revisions.map(\.generation).sorted() == [9, 10, 11])
        #expect(try database.info().revisionLimit == 3)
        #expect(try database.problems() == [])
    }
}
