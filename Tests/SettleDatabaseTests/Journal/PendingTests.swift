import Foundation
import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

struct PendingTests {
    private let time = ManualTime()

    /// A database with a synchronized document.
    private func database() throws -> Database {
        let database = try Database.plain(options: time.options)
        try synchronize(database)
        return database
    }

    private func synchronize(_ database: Database) throws {
        let document = try database.add("a", ["n": 1, "text": "x"])
        try database.markShared([("a", try #require(document.revision))])
    }

    // SEMANTICS 148, 149
    @Test(arguments: Kinds.withJournal)
    func `each local save is recorded beside the documents`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind, options: time.options)
        defer { withExtendedLifetime(temporary) {} }
        let database = temporary.database
        time.now = 1_423_083_473
        try database.add("envelope", ["name": "A New Name"])
        time.now = 1_423_083_525
        try database.add("other", ["budget": "50.00"])
        #expect(
            try database.pendingLines == [
                #"CREATE envelope name="A New Name"@1423083473"#, #"CREATE other budget="50.00"@1423083525"#,
            ])
        #expect(try database.document("envelope")?.json == ["name": "A New Name"])
    }

    // SEMANTICS 149
    @Test func `pending documents are grouped by type and id, a deletion under its former type`() throws {
        let database = try Database.plain(options: time.options)
        let gone = try database.add("gone", ["type": "transfers", "n": 1])
        try database.markShared([("gone", try #require(gone.revision))])
        time.now = 1_423_083_473
        try database.add("17bb2c1c", ["type": "envelopes", "name": "A New Name", "budget": "50.00"])
        try database.add("b", ["type": "envelopes"])
        try database.add("t", ["type": "transfers", "from": "b"])
        try database.add("untyped", ["type": 7, "n": 1])
        try database.delete(gone, onConflict: .fail)
        let changes = try #require(try database.journal?.pendingByType())
        #expect(Set(changes.keys) == ["envelopes", "transfers", ""])
        let at = Date(milliseconds: time.now)
        #expect(
            changes["envelopes"] == [
                "17bb2c1c": [
                    .init(name: "name", value: "A New Name", time: at), .init(name: "budget", value: "50.00", time: at),
                ], "b": [],
            ])
        #expect(changes["transfers"] == ["t": [.init(name: "from", value: "b", time: at)], "gone": []])
        #expect(changes[""]?["untyped"] == [.init(name: "n", value: 1, time: at)])
        let other = try #require(try database.journal?.pendingByType("from"))
        #expect(Set(other.keys) == ["b", ""])
        #expect(other["b"]?["t"]?.map(\.name) == ["type"])
    }

    // SEMANTICS 149
    @Test func `a pending change is encoded in the form that a server takes`() throws {
        let database = try database()
        time.now = 1_423_083_473_000
        try database.add("envelope", ["name": "A New Name", "tags": ["x"]])
        time.now = 1_423_083_525_250
        try database.update("a") { $0["text"] = nil }
        try database.delete(try database.add("gone", ["n": 1]))
        let synchronized = try database.add("b", ["n": 1])
        try database.markShared([("b", try #require(synchronized.revision))])
        try database.delete(synchronized)
        let expected: JSONValue = [
            [
                "id": "envelope", "operation": "CREATE",
                "changes": [
                    ["attribute": "name", "value": "A New Name", "timestamp": 1_423_083_473],
                    ["attribute": "tags", "value": ["x"], "timestamp": 1_423_083_473],
                ],
            ],
            [
                "id": "a", "operation": "UPDATE",
                "changes": [["attribute": "text", "timestamp": 1_423_083_525.25]],
            ],
            ["id": "b", "operation": "DELETE", "changes": []],
        ]
        let pending = try #require(try database.journal?.pending)
        #expect(try JSONValue(encoding: pending) == expected)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let objects = try pending.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        #expect(
            objects.dropFirst() == [
                #"{"changes":[{"attribute":"text","timestamp":1423083525.25}],"id":"a","operation":"UPDATE"}"#,
                #"{"changes":[],"id":"b","operation":"DELETE"}"#,
            ])
    }

    // SEMANTICS 150, 151, K13
    @Test func `pending changes of one document are one change, with each attribute's last value and time`() throws {
        let database = try database()
        time.now = 10
        try database.set("a", "n", 2)
        time.now = 20
        try database.set("a", "text", "y")
        time.now = 30
        try database.set("a", "n", 3)
        #expect(try database.pendingLines == [#"UPDATE a n=3@30 text="y"@20"#])
        #expect(try database.journal?.history().count == 3)
    }

    // SEMANTICS 152
    @Test func `a create followed by updates is one create`() throws {
        let database = try database()
        try database.add("b", ["n": 1, "gone": true])
        time.now = 5
        var document = try #require(try database.document("b"))
        document["n"] = 2
        document["gone"] = nil
        try database.save(document, onConflict: .fail)
        #expect(try database.pendingLines == ["CREATE b n=2@5"])
    }

    // SEMANTICS 152
    @Test func `a create followed by a delete sends nothing`() throws {
        let database = try database()
        try database.add("b")
        try database.delete("b")
        #expect(try database.pendingLines == [])
        #expect(try database.historyLines() == [#"CREATE b - {"v":1}"#, #"DELETE b {"v":1} -"#])
        try database.add("b", ["v": 2])
        #expect(try database.pendingLines == ["CREATE b v=2@0"])
    }

    // SEMANTICS 152
    @Test func `an update followed by a delete is a delete, and a new document replaces all`() throws {
        let database = try database()
        try database.set("a", "more", 1)
        try database.delete("a")
        #expect(try database.pendingLines == ["DELETE a"])
        time.now = 9
        try database.add("a", ["n": 7])
        let pending = try #require(try database.journal?.pending(of: "a"))
        #expect(pending.operation == .update)
        let values = Dictionary(uniqueKeysWithValues: pending.attributes.map { ($0.name, $0.value) })
        #expect(values == ["n": 7, "text": nil, "more": nil])
        #expect(pending.attributes.allSatisfy { $0.time == Date(milliseconds: 9) })
        try database.delete("a")
        #expect(try database.pendingLines == ["DELETE a"])
    }

    // SEMANTICS 153
    @Test func `a change back to the synchronized value is kept`() throws {
        let database = try database()
        time.now = 10
        try database.set("a", "n", 2)
        time.now = 20
        try database.set("a", "n", 1)
        #expect(try database.pendingLines == ["UPDATE a n=1@20"])
        try database.set("a", "n", 1)
        #expect(try database.pendingLines == ["UPDATE a n=1@20"])
    }

    // SEMANTICS 147, 154
    @Test func `how much is to be sent is known without reading`() throws {
        let engine = CountingEngine(try SQLiteStorage.inMemory())
        let database = try Database.make(on: engine, options: time.options)
        try database.add("a", ["n": 1])
        let reads = engine.reads
        #expect(database.journal?.count == 1)
        #expect(database.journal?.isEmpty == false)
        #expect(engine.reads == reads)
        #expect(try database.pendingLines == ["CREATE a n=1@0"])
        #expect(engine.reads > reads, "contents are not kept in memory")
    }

    // SEMANTICS 155
    @Test(arguments: Kinds.withJournal)
    func `a change rolled back with its transaction is not recorded`(kind: DatabaseKind) throws {
        let temporary = try TemporaryDatabase(kind, options: time.options)
        defer { withExtendedLifetime(temporary) {} }
        let database = temporary.database
        try synchronize(database)
        #expect(throws: Nonsense.self) {
            try database.transaction {
                try database.set("a", "n", 2)
                #expect(try database.historyLines().count == 1)
                throw Nonsense()
            }
        }
        #expect(try database.pendingLines == [])
        #expect(try database.historyLines() == [])
        #expect(database.journal?.isEmpty == true)
        try database.transaction {
            try database.set("a", "n", 3)
            try? database.transaction {
                try database.set("a", "n", 4)
                throw Nonsense()
            }
            #expect(try database.pendingLines == ["UPDATE a n=3@0"])
        }
        #expect(try database.pendingLines == ["UPDATE a n=3@0"])
        #expect(try database.historyLines() == [#"UPDATE a {"n":1,"text":"x"} {"n":3,"text":"x"}"#])
        #expect(code { try database.save(Document(id: "a", body: ["n": 9]), onConflict: .fail) } == .conflict)
        #expect(try database.historyLines().count == 1)
    }

    // SEMANTICS 156
    @Test func `pending changes survive a restart`() throws {
        let temporary = try TemporaryDatabase(.file, options: time.options)
        try synchronize(temporary.database)
        time.now = 4
        try temporary.database.set("a", "n", 2)
        try temporary.database.add("b")
        try temporary.database.delete("b")
        let before = try (temporary.database.pendingLines, temporary.database.historyLines())
        try temporary.reopen()
        #expect(try temporary.database.pendingLines == before.0)
        #expect(try temporary.database.historyLines() == before.1)
        #expect(before.0 == ["UPDATE a n=2@4"])
    }

    // SEMANTICS 156
    @Test func `an edit made during an upload stays pending`() throws {
        let database = try database()
        time.now = 10
        let sent = try database.set("a", "n", 2)
        time.now = 20
        try database.set("a", "text", "y")
        try database.markShared([("a", try #require(sent.revision))])
        #expect(try database.pendingLines == [#"UPDATE a text="y"@20"#])
        #expect(try database.historyLines() == [#"UPDATE a {"n":2,"text":"x"} {"n":2,"text":"y"}"#])
        try database.markShared([("a", try #require(try database.document("a")?.revision))])
        #expect(database.journal?.isEmpty == true)
    }

    @Test func `a peer that sends a descendant has acknowledged the change`() throws {
        let database = try database()
        let mine = try #require(try database.set("a", "n", 2).revision)
        let base = try #require(try database.tree("a").parent(of: mine))
        try database.insertReplicated([
            peer("a", try path("3-theirs", "\(mine.signature)", "\(base.signature)"), ["n": 3])
        ])
        #expect(database.journal?.isEmpty == true)
        #expect(try database.document("a")?["n"] == 3)
    }

    @Test func `a replicated change is not a local operation`() throws {
        let database = try database()
        try database.insertReplicated([peer("b", try path("1-b"), ["n": 1])])
        try database.putSomethingLocal()
        #expect(database.journal?.isEmpty == true)
    }

    @Test func `a purged document has no operations`() throws {
        let database = try database()
        try database.set("a", "n", 2)
        try database.purge("a")
        #expect(try database.historyLines() == [])
        #expect(try database.pendingLines == [])
    }

    @Test func `observers get each state, the first at once`() async throws {
        let database = try database()
        var pending = try #require(database.journal).observePending().makeAsyncIterator()
        #expect(try await pending.next() == [])
        try database.set("a", "n", 2)
        #expect(try await pending.next()?.map(\.line) == ["UPDATE a n=2@0"])
        try database.set("a", "n", 3)
        try database.set("a", "n", 4)
        #expect(try await pending.next()?.map(\.line) == ["UPDATE a n=4@0"])
        database.close()
        #expect(try await pending.next() == nil)
    }
}

extension Database {
    fileprivate func tree(_ id: DocumentID) throws -> RevisionTree { try tree(of: id) ?? RevisionTree() }

    fileprivate func putSomethingLocal() throws {
        try saveLocalDocument("_local/checkpoint", body: ["n": 1])
    }
}
