import PostgresTesting
import Settle
import SettleTesting
import Testing

struct JournalUndoTests {
    private let time = ManualTime()

    private func withDatabase(clocks: Bool = false, _ body: (Database, Journal) throws -> Void) throws {
        var options = time.options
        options.attributeClocks = clocks
        try withTemporaryDatabase(.plain, options: options) { database in
            let document = try database.add("1", ["name": "item1_3"])
            try database.markShared([("1", try #require(document.revision))])
            try body(database, try #require(database.journal))
        }
    }

    // SEMANTICS 191, 192, K13
    @Test(arguments: [false, true]) func `the journal is complete and is undone from its end`(withClocks: Bool) throws {
        try withDatabase(clocks: withClocks) { database, journal in
            #expect((try database.document("1")?["$clocks"] != nil) == withClocks)
            try database.add("t_1", ["name": "item2"])
            try database.set("1", "name", "item1_4")
            try database.delete("t_1")
            #expect(
                try database.historyLines() == [
                    #"CREATE t_1 - {"name":"item2"}"#, #"UPDATE 1 {"name":"item1_3"} {"name":"item1_4"}"#,
                    #"DELETE t_1 {"name":"item2"} -"#,
                ])
            #expect(try journal.undo().map(\.operation) == [.delete])
            #expect(try database.document("t_1")?["name"] == "item2")
            #expect(try database.historyLines().count == 2)
            #expect(try journal.undo().map(\.operation) == [.update])
            #expect(try database.document("1")?["name"] == "item1_3")
            #expect(try journal.undo().map(\.operation) == [.create])
            #expect(try database.document("t_1") == nil)
            #expect(journal.isEmpty)
            #expect(try database.pendingLines == [])
            #expect(try journal.undo() == [])
            #expect(try database.problems() == [])
        }
    }

    // SEMANTICS 197
    @Test func `each operation has the value before it`() throws {
        try withDatabase { database, journal in
            try database.set("1", "name", "item1_4")
            try database.set("1", "name", "item1_5")
            #expect(try journal.history().map { $0.old?.body["name"] } == ["item1_3", "item1_4"])
            try journal.undo()
            #expect(try database.document("1")?["name"] == "item1_4")
            try journal.undo()
            #expect(try database.document("1")?["name"] == "item1_3")
        }
    }

    // SEMANTICS 192
    @Test func `the newest operations, those of one document, or all can be undone`() throws {
        try withDatabase { database, journal in
            try database.add("a")
            for n in 2...4 { try database.set("a", "v", .number(JSONNumber(n))) }
            try database.set("1", "name", "x")
            #expect(try journal.undo(2).count == 2)
            #expect(try database.document("a")?["v"] == 3)
            try database.set("1", "name", "y")
            #expect(try journal.undo("a").count == 3)
            #expect(try database.document("a") == nil)
            #expect(try database.pendingLines == [#"UPDATE 1 name="y"@0"#])
            try database.add("b")
            #expect(try journal.undoAll().count == 2)
            #expect(try database.document("1")?["name"] == "item1_3")
            #expect(journal.isEmpty)
        }
    }

    @Test func `undoing restores attachments`() throws {
        try withDatabase { database, journal in
            var document = try #require(try database.document("1"))
            document.attach(try database.makeAttachment("a.txt", content: Array("hello".utf8)))
            document = try database.save(document, onConflict: .fail)
            #expect(try database.journal?.pending.first?.attributes.map(\.name) == ["_attachments"])
            try database.markShared([("1", try #require(document.revision))])
            document.detach("a.txt")
            try database.save(document, onConflict: .fail)
            try database.compact()
            try journal.undo()
            let attachment = try #require(try database.document("1")?.attachment("a.txt"))
            #expect(try database.content(of: attachment) == Array("hello".utf8))
        }
    }

    @Test func `members that others changed meanwhile stay`() throws {
        try withDatabase { database, journal in
            let mine = try #require(try database.set("1", "name", "mine").revision)
            // A peer that has not acknowledged anything has edited the synchronized revision.
            let base = try #require(try database.tree(of: "1")?.parent(of: mine))
            try database.insertReplicated([
                peer("1", try path("2-ff", "\(base.signature)"), ["name": "item1_3", "more": 1])
            ])
            try database.settle("1", using: .threeWayMerge())
            #expect(try database.document("1")?.json == ["name": "mine", "more": 1])
            #expect(try journal.history().map { $0.old?.body["more"] } == [1])
            try journal.undo()
            #expect(try database.document("1")?.json == ["name": "item1_3", "more": 1])
            #expect(journal.isEmpty)
        }
    }

    @Test func `a member that others changed since is not undone`() throws {
        try withDatabase { database, journal in
            let mine = try #require(try database.set("1", "name", "mine").revision)
            try database.insertReplicated([
                peer("1", try path("9-ff", "aa"), ["name": "theirs"])
            ])
            #expect(try database.document("1")?["name"] == "theirs")
            #expect(code { try journal.undo() } == .conflict)
            #expect(try journal.history().map(\.revision) == [mine])
            #expect(try database.document("1")?["name"] == "theirs")
        }
    }

    @Test func `an operation that a settlement has overruled is removed`() throws {
        try withDatabase { database, journal in
            let mine = try #require(try database.set("1", "name", "mine").revision)
            let base = try #require(try database.tree(of: "1")?.parent(of: mine))
            try database.insertReplicated([peer("1", try path("2-ff", "\(base.signature)"), ["name": "theirs"])])
            try database.settle("1", using: .remoteWins)
            #expect(try database.document("1")?["name"] == "theirs")
            #expect(journal.isEmpty)
        }
    }

    @Test func `an operation undone while it was uploaded is sent again`() throws {
        try withDatabase { database, journal in
            let sent = try #require(try database.set("1", "name", "sent").revision)
            try journal.undo()
            #expect(journal.isEmpty)
            try database.markShared([("1", sent)])
            #expect(try database.historyLines() == [#"UPDATE 1 {"name":"sent"} {"name":"item1_3"}"#])
            #expect(try database.pendingLines == [#"UPDATE 1 name="item1_3"@0"#])
            try database.markShared([("1", try #require(try database.document("1")?.revision))])
            #expect(journal.isEmpty)
        }
    }

    @Test func `a refused undo changes nothing`() throws {
        try withDatabase { database, journal in
            try database.set("1", "name", "a")
            try database.add("b")
            database.addValidation("no item1_3") { context in
                if context.newRevision["name"] == "item1_3" { throw Nonsense() }
            }
            #expect(code { try journal.undoAll() } == .refused)
            #expect(try database.document("b") != nil)
            #expect(journal.count == 2)
        }
    }
}
