import PostgresTesting
import Settle
import SettleTesting
import Testing

/// The state of the database that the rows reflect, for any reader and any number of reads without a change.
struct ViewStateTests {
    private struct Refused: Error {}

    private static let all = MapIndex<String, Int>("all", version: 1) { document, emit in
        emit(document.id.string, document["n"]?.int ?? 0)
    }

    /// A database in a file and one in memory, each with the document `a` and its row.
    private static func each(_ body: (Database) throws -> Void) throws {
        let folder = try TemporaryFolder()
        for database in [try Database.plain(), try Database.create(folder.path + "/rows.settle")] {
            try database.save(Document(id: "a", body: ["n": 1]), onConflict: .fail)
            #expect(try database.rows(of: all).map(\.key) == ["a"])
            #expect(try database.rows(of: all).map(\.key) == ["a"])
            try body(database)
            database.close()
        }
    }

    @Test func `a transaction sees its own writes, and nobody does when it failed`() throws {
        try Self.each { database in
            #expect(throws: Refused.self) {
                try database.transaction {
                    try database.save(Document(id: "b"), onConflict: .fail)
                    #expect(try database.rows(of: Self.all).map(\.key) == ["a", "b"])
                    throw Refused()
                }
            }
            #expect(try database.rows(of: Self.all).map(\.key) == ["a"])
            try database.save(Document(id: "c"), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c"])
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c"])
        }
    }

    @Test func `a change that replaces a rolled back one is seen`() throws {
        try Self.each { database in
            #expect(throws: Refused.self) {
                try database.transaction {
                    try database.save(Document(id: "b"), onConflict: .fail)
                    #expect(try database.rows(of: Self.all).map(\.key) == ["a", "b"])
                    throw Refused()
                }
            }
            try database.save(Document(id: "c"), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c"])
            #expect(throws: Refused.self) {
                try database.transaction {
                    try database.purge("a")
                    #expect(try database.rows(of: Self.all).map(\.key) == ["c"])
                    throw Refused()
                }
            }
            try database.save(Document(id: "d"), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c", "d"])
            // The last change may be purged, and more than that.
            try database.purge("d")
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "c"])
            try database.purge("c")
            try database.save(Document(id: "e"), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.key) == ["a", "e"])
        }
    }

    @Test func `rows read in a snapshot of an older state leave the current rows unchanged`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder.path + "/rows.settle")
        try database.save(Document(id: "a"), onConflict: .fail)
        try database.snapshot {
            #expect(try database.document("a") != nil)
            try database.save(Document(id: "b"), onConflict: .fail)
            _ = try database.rows(of: Self.all)
        }
        #expect(try database.rows(of: Self.all).map(\.key) == ["a", "b"])
        try database.snapshot {
            #expect(try database.document("a") != nil)
            try database.purge("a")
            _ = try database.rows(of: Self.all)
        }
        #expect(try database.rows(of: Self.all).map(\.key) == ["b"])
    }

    @Test func `a purge and an edit after it are seen at once`() throws {
        try Self.each { database in
            try database.purge("a")
            #expect(try database.rows(of: Self.all).isEmpty)
            try database.save(Document(id: "a", body: ["n": 2]), onConflict: .fail)
            #expect(try database.rows(of: Self.all).map(\.value) == [2])
        }
    }
}
