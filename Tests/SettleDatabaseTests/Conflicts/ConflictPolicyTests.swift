import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct ConflictPolicyTests {
    /// A live leaf of generation 4 and a deletion of generation 2.
    private func settledDeletion(_ policy: ConflictPolicy) throws -> (Database, Settlement) {
        let database = try Database.plain()
        try database.insertReplicated([
            peer("a", path("2-t", "a"), isDeleted: true), peer("a", path("4-d", "c", "b", "a"), ["v": 4]),
        ])
        return (database, try database.settle("a", using: policy))
    }

    // SEMANTICS 7
    @Test func `by deletes-win a deletion wins whatever the generations are`() throws {
        let (database, settlement) = try settledDeletion(.deletesWin)
        #expect(settlement.outcome == .settled)
        #expect(try database.document("a") == nil)
        #expect(try database.leafBodies("a") == [#"!{"$closed":"2-t"}"#, "!{}"])
    }

    // SEMANTICS 63
    @Test(arguments: [ConflictPolicy.keepAll, .mostRevisions, .threeWayMerge()])
    func `policies that decide between live leaves only keep a deletion beside them`(policy: ConflictPolicy) throws {
        let (database, settlement) = try settledDeletion(policy)
        #expect(settlement.outcome == .nothing)
        #expect(try database.document("a")?["v"] == 4)
        #expect(try database.leafNames("a") == ["4-d", "2-t"])
    }

    // SEMANTICS 8, 9
    @Test(arguments: [
        ("10-a", "9-f", "10-a"), ("2-b", "2-c", "2-c"), ("3-a", "2-f", "3-a"), ("9-f", "10-a", "10-a"),
    ])
    func `most revisions wins by number, the greater id among equals`(
        first: String, second: String, winner: String
    ) throws {
        for policy in [ConflictPolicy.mostRevisions, .deletesWin] {
            try withTemporaryDatabase(.plain) { database in
                try database.insertReplicated([
                    peer("a", path(first), ["v": .string(first)]), peer("a", path(second), ["v": .string(second)]),
                ])
                let settlement = try database.settle("a", using: policy)
                #expect(settlement.survivor?.description == winner)
                #expect(try database.document("a")?["v"]?.string == winner)
                #expect(settlement.written.count == 1)
                #expect(try database.conflictedDocumentIDs() == [])
            }
        }
    }

    // SEMANTICS 11
    @Test func `where both sides are deleted no policy is asked`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("a", path("2-s", "a"), isDeleted: true), peer("a", path("2-t", "a"), isDeleted: true),
            ])
            let seen = Seen()
            let settlement = try database.settle(
                "a",
                using: .custom("any", deletions: true) { _ in
                    seen.note("asked")
                    return .delete
                })
            #expect(settlement.outcome == .nothing)
            #expect(seen.all == [])
            #expect(try database.document("a") == nil)
        }
    }

    // SEMANTICS 12
    @Test(arguments: [ConflictPolicy.mostRevisions, .deletesWin, .localWins, .remoteWins, .threeWayMerge()])
    func `after a settling policy no conflict is left`(policy: ConflictPolicy) throws {
        try withTemporaryDatabase(.plain) { database in
            for id: DocumentID in ["a", "b", "c"] { try database.makeConflict(id) }
            let report = try database.settleAll(using: policy)
            #expect(report.settled == 3)
            #expect(try database.conflictedDocumentIDs() == [])
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 60, K4
    @Test func `keep-all keeps all`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            let before = try (database.tree(of: "a"), database.lastSequence())
            #expect(try database.settle("a", using: .keepAll).outcome == .left)
            #expect(try database.settleAll(using: .keepAll).left == 1)
            #expect(try (database.tree(of: "a"), database.lastSequence()) == before)
        }
    }

    // SEMANTICS 15, 18, 25
    @Test(arguments: [true, false])
    func `local wins keeps the local content with its attachments, and replicates it to others`(isWinner: Bool) throws {
        try withTwoDatabases { first, second in
            try first.add("a")
            try second.pull(from: first)
            // The leaf with more revisions is CouchDB's winner; local wins is asked with either leaf here.
            let (here, there) = isWinner ? (2, 1) : (1, 2)
            for number in 1...here { try first.set("a", "here", .number(JSONNumber(number))) }
            for number in 1...there { try second.set("a", "there", .number(JSONNumber(number))) }
            var document = try #require(try first.document("a"))
            document.attach(try first.makeAttachment("f", contentType: "text/plain", content: Array("mine".utf8)))
            try first.save(document, onConflict: .fail)
            try second.set("a", "more", 1)
            try first.pull(from: second)
            #expect(try first.settle("a", using: .localWins).outcome == .settled)
            try second.pull(from: first)
            for database in [first, second] {
                let kept = try #require(try database.document("a"))
                #expect(kept["here"] == .number(JSONNumber(here)) && kept["there"] == nil)
                let attachment = try #require(kept.attachment("f"))
                #expect(try database.content(of: attachment) == Array("mine".utf8))
                #expect(try database.conflictedDocumentIDs() == [])
            }
        }
    }

    // SEMANTICS 13
    @Test func `a save over a deletion follows the rules of saves even where deletions win`() async throws {
        let database = try Database.plain(options: .quiet)
        defer { database.close() }
        let settling = database.settleAutomatically(using: .deletesWin)
        let stale = try database.save(Document(id: "a", body: ["v": 1]), onConflict: .fail)
        try database.delete(stale, onConflict: .fail)
        try database.save(stale, onConflict: .lastWriteWins)
        try await settling.idle()
        await settling.stop()
        #expect(try database.document("a")?["v"] == 1)
    }

    // SEMANTICS 15
    @Test func `remote wins keeps the replicated content`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.makeConflict("a")
            try database.settle("a", using: .remoteWins)
            #expect(try database.document("a")?["v"] == "there")
            #expect(try database.conflictedDocumentIDs() == [])
        }
    }

    // SEMANTICS 17, 19
    @Test func `a remote deletion that wins is kept as it is`() throws {
        try withTwoDatabases { first, second in
            try first.add("a")
            try second.pull(from: first)
            let tombstone = try #require(try second.delete("a")?.revision)
            try first.set("a", "v", 2)
            try first.pull(from: second)
            let settlement = try first.settle("a", using: .remoteWins)
            #expect(settlement.survivor == tombstone)
            #expect(settlement.written.count == 1)
            #expect(try first.document("a") == nil)
        }
    }

    @Test func `a local edit that wins over a remote deletion closes it for good`() throws {
        try withTwoDatabases { first, second in
            try first.add("a")
            try second.pull(from: first)
            try second.delete("a")
            try first.set("a", "v", 2)
            try first.pull(from: second)
            let settlement = try first.settle("a", using: .localWins)
            #expect(settlement.outcome == .settled)
            try second.pull(from: first)
            for database in [first, second] {
                #expect(try database.conflictedDocumentIDs(.deletion) == [])
                #expect(try database.settle("a", using: .deletesWin).outcome == .nothing)
                #expect(try database.document("a")?["v"] == 2)
            }
        }
    }

    // SEMANTICS 74, K9
    @Test func `keeping the winner writes only the closing of the other leaves`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("a", path("4-x", "p", "q"), ["v": "x"]), peer("a", path("3-y", "q"), ["v": "y"]),
            ])
            let settlement = try database.settle(
                "a", using: .custom("winner") { .keep($0.winner.revision ?? $0.tree.revisions[0]) })
            #expect(settlement.survivor == RevisionID("4-x"))
            #expect(settlement.written.map(\.generation) == [4])
            #expect(try database.leafBodies("a") == [#"{"v":"x"}"#, #"!{"$closed":"4-x","$kept":true}"#])
        }
    }

    // SEMANTICS 70, 73, K8
    @Test func `another leaf that is kept becomes a child of the winner`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer("a", path("4-x", "p", "q"), ["v": "x"]), peer("a", path("3-y", "q"), ["v": "y"]),
            ])
            let settlement = try database.settle("a", using: .custom("last") { .document($0.leaves[1]) })
            let survivor = try #require(settlement.survivor)
            #expect(survivor.generation == 5)
            #expect(try database.tree(of: "a")?.parent(of: survivor) == RevisionID("4-x"))
            #expect(try database.leafBodies("a") == [#"{"v":"y"}"#, #"!{"$closed":"\#(survivor)"}"#])
        }
    }
}
