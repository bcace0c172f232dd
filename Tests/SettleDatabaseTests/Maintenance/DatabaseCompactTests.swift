import PostgresTesting
import Settle
import SettleTesting
import Testing

@Suite struct DatabaseCompactTests {
    /// The revisions of a document that have their content, by their short names.
    private func kept(_ database: Database, _ id: DocumentID = "a") throws -> Set<String> {
        let revisions = try database.tree(of: id)?.revisions ?? []
        return Set(try revisions.filter { try database.document(id, revision: $0) != nil }.map(\.description))
    }

    private func insert(_ database: Database, _ histories: [RevisionHistory]) throws {
        for history in histories {
            try database.insertReplicated([peer("a", history, ["v": .string(history.revision.description)])])
        }
    }

    // SEMANTICS 90
    @Test(arguments: Kinds.all)
    func `compaction removes bodies of old revisions, and keeps leaves and ids`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            for number in 1...5 { try database.set("a", "v", .number(JSONNumber(number))) }
            let before = try database.tree(of: "a")?.revisions
            let sequence = try database.lastSequence()
            let result = try database.compact()
            #expect(result.contents == 4)
            #expect(try database.tree(of: "a")?.revisions == before)
            #expect(try kept(database).count == 1)
            #expect(try database.document("a")?["v"] == 5)
            #expect(try database.lastSequence() == sequence)
            #expect(try database.compact().contents == 0)
            #expect(try database.problems() == [])
        }
    }

    @Test func `a document with more leaves in conflict than can be settled does not stop compaction`() throws {
        try withTemporaryDatabase(.plain) { database in
            try insert(database, [path("1-a"), path("2-b", "a")])
            try database.insertReplicated((0...Conflict.maximumLeaves).map { try peer("a", path("1-e\($0)")) })
            for number in 1...3 { try database.set("other", "v", .number(JSONNumber(number))) }
            #expect(try database.compact().contents == 2)
            #expect(try kept(database, "other").count == 1)
            #expect(try database.document("a", revision: RevisionID(validating: "1-a")) != nil)
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 90
    @Test(arguments: Kinds.all)
    func `the branch point of a conflict is kept while the conflict exists`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try insert(
                database,
                [
                    try path("1-a"), try path("2-b", "a"), try path("3-c", "b", "a"), try path("4-d", "c", "b", "a"),
                    try path("5-e", "d", "c", "b", "a"), try path("4-x", "c", "b", "a"),
                ])
            #expect(try database.compact().contents == 3)
            #expect(try kept(database) == ["5-e", "4-x", "3-c"])
            #expect(try database.problems() == [])
            let loser = try #require(try database.document("a", revision: RevisionID(validating: "4-x")))
            let tombstone = try #require(try database.delete(loser, onConflict: .fail)?.revision)
            try database.compact()
            // The tombstone's parent came from a peer, so it is the base of work that no peer has.
            #expect(try kept(database) == ["5-e", "4-x", tombstone.description])
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `the newest shared ancestor of unsynced work is kept`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try insert(database, [try path("1-a"), try path("2-b", "a")])
            for number in 1...3 { try database.set("a", "v", .number(JSONNumber(number))) }
            #expect(try database.compact().contents == 3)
            #expect(try kept(database).contains("2-b"))
            #expect(try kept(database).count == 2)
            let winner = try #require(try database.document("a")?.revision)
            try database.markShared([("a", winner)])
            #expect(try database.compact().contents == 1)
            #expect(try kept(database) == [winner.description])
            #expect(try database.problems() == [])
        }
    }

    @Test(arguments: Kinds.all)
    func `compaction returns space and reports progress`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            let text = JSONValue.string(String(repeating: "x", count: 20_000))
            for number in 0..<60 { try database.set("a", "v", [.number(JSONNumber(number)), text]) }
            let before = try database.info().fileSize
            let told = Log<MaintenanceProgress>()
            let result = try database.compact { told.add($0) }
            // A server gives space back by itself.
            if kind != .other { #expect(result.bytes > 500_000) }
            #expect(try database.info().fileSize == before - result.bytes)
            #expect(Set(told.values.map(\.phase)).isSuperset(of: ["old revisions", "rewriting the file"]))
            #expect(told.values.allSatisfy { $0.completed <= $0.total })
            #expect(throws: Nonsense.self) { try database.compact { _ in throw Nonsense() } }
            #expect(try database.problems() == [])
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: Kinds.all)
    func `compacting inside a transaction is refused and does not deadlock`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a")
            #expect(code { try database.transaction { try database.compact() } } == .invalid)
            #expect(try database.transaction { try database.verify().isSound })
            #expect(try database.snapshot { try database.verify().isSound })
            try database.compact()
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: Kinds.all)
    func `writers proceed while a database is compacted`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database throws in
            let failures = Log<String>()
            onThreads(4) { thread in
                do {
                    if thread == 0 {
                        for _ in 0..<8 { try database.compact() }
                        return
                    }
                    for number in 0..<100 {
                        try database.set(DocumentID(validating: "\(thread)"), "v", .number(JSONNumber(number)))
                    }
                } catch { failures.add("\(error)") }
            }
            #expect(failures.values == [])
            #expect(try database.documents().map { $0["v"] } == [99, 99, 99])
            #expect(try database.problems() == [])
        }
    }
}
