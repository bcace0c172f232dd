import PostgresTesting
import Settle
import SettleTesting
import Testing

/// An entry has its contents as long as it exists, whatever happens to the document's revisions.
struct JournalContentTests {
    private func withDatabase(limit: Int = 1000, _ body: (Database, Journal) throws -> Void) throws {
        try withTemporaryDatabase(.plain, options: ManualTime().options) { database in
            try database.setRevisionLimit(limit)
            let document = try database.add("a", ["n": 0])
            try database.markShared([("a", try #require(document.revision))])
            try body(database, try #require(database.journal))
        }
    }

    private func edit(_ database: Database, to count: Int) throws {
        for n in 1...count { try database.set("a", "n", .number(JSONNumber(n))) }
    }

    private let lines = (1...6).map { #"UPDATE a {"n":\#($0 - 1)} {"n":\#($0)}"# }

    // SEMANTICS 197
    @Test(arguments: [1, 2, 3, 1000]) func `when old revisions are stemmed`(limit: Int) throws {
        try withDatabase(limit: limit) { database, journal in
            try edit(database, to: 6)
            #expect(try database.historyLines() == lines)
            try database.transaction { for n in 7...9 { try database.set("a", "n", .number(JSONNumber(n))) } }
            #expect(try journal.history().count == 9)
            try journal.undo(8)
            #expect(try database.document("a")?["n"] == 1)
            #expect(try database.problems() == [])
        }
    }

    @Test func `the newest are read from the end, in their order`() throws {
        try withDatabase { database, journal in
            try edit(database, to: 6)
            for limit in [0, 1, 2, 6, 7, Int.max] {
                #expect(try journal.newest(limit) == journal.history().suffix(limit), "\(limit)")
            }
            #expect(try journal.newest(-1).isEmpty)
        }
    }

    @Test func `the oldest are at most as many as asked for, and none for a negative number`() throws {
        try withDatabase { database, journal in
            try edit(database, to: 3)
            for limit in [0, 1, 2, 3, 4, Int.max] {
                #expect(try journal.history(limit: limit) == Array(journal.history().prefix(limit)), "\(limit)")
            }
            #expect(try journal.history(limit: -1).isEmpty)
        }
    }

    @Test func `when the database is compacted`() throws {
        try withDatabase { database, journal in
            try edit(database, to: 6)
            let tree = try #require(try database.tree(of: "a"))
            let revisions = try #require(tree.winner.flatMap { tree.history(of: $0.revision) }?.revisions)
            try database.compact()
            try database.compact()
            #expect(try database.historyLines() == lines)
            try database.markShared([("a", revisions[2])])
            try database.compact()
            #expect(try database.historyLines() == Array(lines[4...]))
            #expect(try database.problems() == [])
        }
    }

    @Test func `when the branch it began on is purged`() throws {
        try withDatabase { database, journal in
            // The winner of two branches is deleted, so the other one is visible; that one is then edited.
            let mine = try #require(try database.set("a", "n", 1).revision)
            let base = try #require(try database.tree(of: "a")?.parent(of: mine))
            try database.insertReplicated([peer("a", try path("2-00", "\(base.signature)"), ["n": 7])])
            let winner = try #require(try database.document("a"))
            #expect(winner.revision == mine)
            let tombstone = try #require(try database.delete(winner, onConflict: .fail))
            try database.set("a", "n", 8)
            let before = try database.historyLines()
            #expect(before.contains(#"UPDATE a {"n":1} {"n":7}"#))
            #expect(before.last == #"UPDATE a {"n":7} {"n":8}"#)
            try database.purge("a", revisions: [try #require(tombstone.revision)])
            #expect(try database.historyLines() == [#"UPDATE a {"n":7} {"n":8}"#])
            #expect(try database.problems() == [])
        }
    }

    @Test func `a foreign branch acknowledges nothing, also of stemmed revisions`() throws {
        try withDatabase(limit: 2) { database, journal in
            try edit(database, to: 6)
            try database.insertReplicated([peer("a", try path("9-ff", "aa"), ["n": 100])])
            #expect(try journal.history(of: "a").count == 6)
            let mine = try #require(try journal.history(of: "a").last?.revision)
            try database.markShared([("a", mine)])
            #expect(try journal.history(of: "a").isEmpty)
        }
    }

    @Test func `missing content is reported`() throws {
        let folder = try TemporaryFolder()
        let path = folder("damaged.settle")
        let database = try Database.create(path, options: ManualTime().options)
        try database.add("a", ["n": 1])
        try database.set("a", "n", 2)
        database.close()
        try RawFile(path: path + "/database.sqlite").execute("DELETE FROM contents")
        let damaged = try Database.open(path)
        #expect(code { _ = try damaged.journal?.pending } == .corrupt)
        #expect(try !damaged.verify().isSound)
        damaged.close()
        // The workaround that the error names.
        var options = DatabaseOptions()
        options.journal = false
        let opened = try Database.open(path, options: options)
        #expect(try opened.document("a")?["n"] == 2)
    }
}
