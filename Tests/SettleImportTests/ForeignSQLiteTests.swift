import Foundation
import SettleCore
import SettleDatabase
import Testing

@testable import SettleImport

/// What is recognized as a database of SQLite, and what is refused.
@Suite struct ForeignSQLiteTests {
    private let made: MadeDatabase

    init() throws { made = try MadeDatabase() }

    private func refusal(_ url: URL) -> ForeignFileError? {
        do {
            _ = try ForeignSQLite.reader(at: url)
            return nil
        } catch { return error as? ForeignFileError }
    }

    @Test(arguments: ["db.cblite", "NAME.touchdb", "b.cblite2/db.sqlite3", "name/db.sync", "any.thing"])
    func `a database is recognized by its tables, in a file, a bundle or a folder`(name: String) throws {
        let url = try made.sqlite(name, version: 102, MadeDatabase.schemaOf1)
        for place in Set([url, url.deletingLastPathComponent(), made.folder]) {
            #expect(try ForeignSQLite.reader(at: place) is CouchbaseLite1Reader, "\(place)")
        }
    }

    @Test func `other files and folders are not SQLite`() throws {
        #expect(try ForeignSQLite.reader(at: made.folder) == nil)
        #expect(try ForeignSQLite.reader(at: made.file("a.json", Array("{}".utf8))) == nil)
        #expect(try ForeignSQLite.reader(at: made.file("empty", [])) == nil)
        #expect(refusal(made.folder.appending(path: "nothing"))?.code == .inputOutput)
    }

    @Test func `a folder of several databases asks for one`() throws {
        try made.sqlite("a.cblite", MadeDatabase.schemaOf1)
        try made.sqlite("b.cblite", MadeDatabase.schemaOf1)
        #expect(refusal(made.folder)?.message.contains("a.cblite, b.cblite") == true)
    }

    @Test func `what only its product can read is refused with a way out`() throws {
        let noise = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
        let encrypted = refusal(try made.file("secret.cblite2/db.sqlite3", noise))
        #expect(encrypted?.code == .unsupported && encrypted?.message.contains("encrypted") == true)
        #expect(refusal(try made.file("secret.touchdb", noise))?.code == .unsupported)
        let forest = refusal(try made.file("f.cblite2/db.forest.0", noise).deletingLastPathComponent())
        #expect(forest?.message.contains("ForestDB") == true)
        #expect(refusal(try made.file("default.realm", noise))?.message.contains("Realm") == true)
        let browser = try made.sqlite(
            "IndexedDB.sqlite3", ["CREATE TABLE Records(a)", "CREATE TABLE ObjectStoreInfo(a)"])
        #expect(refusal(browser)?.message.contains("IndexedDB") == true)
        let unknown = refusal(try made.sqlite("mine.db", ["CREATE TABLE mine(a)"]))
        #expect(unknown?.code == .unknown && unknown?.message.contains("mine") == true)
        #expect(refusal(try made.sqlite("void.db", []))?.code == .missing)
        #expect(refusal(try made.file("zero.cblite", []))?.code == .damaged)
        #expect(refusal(try made.sqlite("new.cblite", version: 300, MadeDatabase.schemaOf1))?.code == .unsupported)
        #expect(
            refusal(try made.sqlite("old.cblite2/db.sqlite3", version: 99, MadeDatabase.schemaOf3()))?.code
                == .unsupported)
        try made.file("x attachments/_encryption", [])
        #expect(refusal(try made.sqlite("x.cblite", version: 102, MadeDatabase.schemaOf1))?.code == .unsupported)
        let log = refusal(try made.file("l.cblite2/db.sqlite3-wal", noise).deletingLastPathComponent())
        #expect(log?.code == .missing)
    }

    @Test func `views and virtual tables are not tables`() throws {
        let statements = [
            "CREATE TABLE hidden(doc_id INTEGER PRIMARY KEY, docid TEXT)", "CREATE VIEW docs AS SELECT * FROM hidden",
            "CREATE VIRTUAL TABLE revs USING fts4(sequence, doc_id, revid, parent, deleted, json)",
        ]
        #expect(refusal(try made.sqlite("views.db", statements))?.code == .unknown)
    }

    /// A folder of a database with one document, which is in the write-ahead log alone.
    private func bundleWithLog() throws -> URL {
        let url = try made.sqlite("a.cblite2/db.sqlite3", version: 102, MadeDatabase.schemaOf1)
        let writer = try SQLiteConnection(path: url.path)
        // As long as it is open, the log stays.
        defer { withExtendedLifetime(writer) {} }
        try writer.execute("PRAGMA journal_mode = WAL")
        try writer.execute(MadeDatabase.document(1, "a"))
        try writer.execute(MadeDatabase.row(1, "1-a", #"{"v":1}"#))
        let bundle = made.folder.appending(path: "copy.cblite2")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(
                at: URL(filePath: url.path + end), to: bundle.appending(path: "db.sqlite3" + end))
        }
        return bundle
    }

    @Test func `what is in a write-ahead log is read, and the files stay as they are`() throws {
        let bundle = try bundleWithLog()
        let before = try FixtureFiles.state(of: bundle)
        var copies: Set<String> = []
        do {
            let reader = try #require(try ForeignSQLite.reader(at: bundle))
            #expect(try reader.documents().map(\.id.string) == ["a"])
            copies = Self.copies()
        }
        #expect(try FixtureFiles.state(of: bundle) == before)
        // Another test may have copies of its own; that of this one is gone.
        #expect(!copies.isEmpty && !copies.isSubset(of: Self.copies()))
    }

    @Test func `what a link leads to is read with its write-ahead log, and stays as it is`() throws {
        let bundle = try bundleWithLog()
        let before = try FixtureFiles.state(of: bundle)
        let (links, only) = (made.folder.appending(path: "links.cblite2"), made.folder.appending(path: "only.cblite"))
        try FileManager.default.createDirectory(at: links, withIntermediateDirectories: true)
        let database = bundle.appending(path: "db.sqlite3")
        for end in ["", "-wal"] {
            try FileManager.default.createSymbolicLink(
                at: links.appending(path: "db.sqlite3" + end),
                withDestinationURL: URL(filePath: database.path + end))
        }
        try FileManager.default.createSymbolicLink(at: only, withDestinationURL: database)
        for place in [links, only] {
            let reader = try #require(try ForeignSQLite.reader(at: place))
            #expect(try reader.documents().map(\.id.string) == ["a"], "\(place)")
        }
        #expect(try FixtureFiles.state(of: bundle) == before)
    }

    private static func copies() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())) ?? []
        return Set(names.filter { $0.hasPrefix("settle-import-") })
    }

    @Test func `indexes with orders of the product's own don't matter`() throws {
        // SQLite needs to know the order when the table is made here, and not what it does.
        let statements =
            MadeDatabase.schemaOf1 + [
                MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", "{}"), "PRAGMA writable_schema = ON",
                "UPDATE sqlite_master SET sql = replace(sql, 'revid TEXT NOT NULL', 'revid TEXT NOT NULL COLLATE REVID')",
            ]
        let reader = try #require(try ForeignSQLite.reader(at: made.sqlite("a.cblite", version: 102, statements)))
        #expect(try reader.documents().count == 1)
    }

    @Test func `a check finds damaged pages`() throws {
        let rows = (1...200).flatMap { number in
            [
                MadeDatabase.document(number, "document \(number)"),
                MadeDatabase.row(number, "1-a", #"{"v":"\#(String(repeating: "x", count: 100))"}"#),
            ]
        }
        let url = try made.sqlite("a.cblite", version: 102, MadeDatabase.schemaOf1 + rows)
        try #require(try ForeignSQLite.reader(at: url)).check()
        var bytes = try FixtureFiles.bytes(url)
        for position in stride(from: 8 * 4096, to: bytes.count, by: 4096) { bytes[position] = 0x77 }
        let damaged = try made.file("b.cblite", bytes)
        #expect(throws: ForeignFileError.self) { try #require(try ForeignSQLite.reader(at: damaged)).check() }
    }

    @Test(
        .enabled(if: FixtureFiles.has("cbl1")),
        arguments: [
            ("cbl1/ios130-forestdb/iosdb.cblite2", "ForestDB"), ("cbl1/ios130-forestdb", "ForestDB"),
            ("cdt/emptyencrypteddb.touchdb", "encrypted"),
        ])
    func `a file of a product that is not read is refused`(path: String, word: String) throws {
        let error = refusal(FixtureFiles.url(path))
        #expect(error?.code == .unsupported && error?.message.contains(word) == true, "\(error as Any)")
    }
}
