import Foundation
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// Files with a valid structure and invalid values: each is an error or a line of the report, never a crash.
@Suite struct DamagedRowTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let database = try Database.create(folder.path("a"))
        var milk = Document(id: "milk", body: ["count": 1])
        milk.attach(try database.makeAttachment("small", content: [1, 2, 3]))
        milk.attach(try database.makeAttachment("large", content: Array(repeating: 1, count: 100_000)))
        milk = try database.save(milk, onConflict: .fail)
        milk["count"] = 2
        try database.save(milk, onConflict: .fail)
        try database.save(Document(id: "bread"), onConflict: .fail)
        try database.saveLocalDocument("_local/a", body: ["n": 1])
        try database.setExpiration(of: "bread", at: Date(timeIntervalSinceNow: 1000))
        database.close()
    }

    private func damaged(_ sql: String) throws -> Database {
        try RawFile(path: folder.path("a/database.sqlite")).execute(sql)
        return try Database.open(folder.path("a"))
    }

    @Test(arguments: [
        "UPDATE blobs SET length = -1", "UPDATE blobs SET length = length + 1", "UPDATE blobs SET md5 = 'x'",
        "UPDATE blobs SET digest = x'00' WHERE content IS NULL", "UPDATE blobs SET content = x'01' WHERE length = 3",
        "UPDATE documents SET attachments = x'5b5d' WHERE attachments IS NOT NULL",
        "UPDATE documents SET attachments = 'no' WHERE attachments IS NOT NULL",
        "UPDATE documents SET attachments = CAST(replace(CAST(attachments AS TEXT), ',3,', ',-3,') AS BLOB)",
        "UPDATE documents SET tree = x'01'", "UPDATE documents SET tree = x'0100'", "UPDATE documents SET body = x'ff'",
        "UPDATE documents SET id = x'ff' WHERE id = x'6d696c6b'", "UPDATE documents SET id = CAST(id AS TEXT)",
        "UPDATE documents SET flags = 3", "DELETE FROM contents", "UPDATE contents SET number = -5",
        "UPDATE contents SET number = 9223372036854775807", "DELETE FROM documents",
        "UPDATE expirations SET id = CAST(id AS TEXT)", "UPDATE expirations SET id = x'ff'",
        // The token of a content is the last varint of a node; this is the largest number.
        "UPDATE documents SET tree = x'010108010102030405060708090a0b0c0d0e0f10ffffffffffffffffff01'",
    ])
    func `verification reports damage`(sql: String) throws {
        #expect(try !damaged(sql).verify().isSound)
    }

    @Test(arguments: [
        "UPDATE blobs SET length = -1", "UPDATE blobs SET length = 9223372036854775807",
        "UPDATE blobs SET content = x'' WHERE length = 3",
    ])
    func `an attachment whose length is wrong is an error`(sql: String) throws {
        let database = try damaged(sql)
        let attachments = try #require(try database.document("milk")).attachments
        for attachment in attachments {
            let content = Result { try database.content(of: attachment) }
            if case .success(let bytes) = content { #expect(Int64(bytes.count) == attachment.length) }
        }
    }

    @Test func `a content token out of range reads as missing content`() throws {
        let database = try damaged(
            "UPDATE documents SET tree = x'010108010102030405060708090a0b0c0d0e0f10ffffffffffffffffff01'")
        let revision = try #require(try database.tree(of: "milk")?.winner?.revision)
        #expect(try database.document("milk", revision: revision) == nil)
        try database.purge("milk")
        try database.compact()
    }

    @Test func `a sequence out of range is an error of the next write, not a crash`() throws {
        let database = try damaged("UPDATE documents SET sequence = 9223372036854775807 WHERE id = x'6d696c6b'")
        #expect(throws: DatabaseError.self) { try database.save(Document(id: "new"), onConflict: .fail) }
        #expect(try database.document("milk")?["count"] == 2)
    }

    @Test func `a local revision out of range is an error of the next write, not a crash`() throws {
        let database = try damaged("UPDATE locals SET revision = 9223372036854775807")
        #expect(throws: DatabaseError.self) { try database.saveLocalDocument("_local/a", body: ["n": 2]) }
    }

    @Test(arguments: ["purges", "purge_requests"])
    func `a number of purges out of range is an error of the next purge, not a crash`(setting: String) throws {
        let database = try damaged(
            "INSERT INTO settings VALUES(CAST('\(setting)' AS BLOB), '9223372036854775807')")
        #expect(throws: DatabaseError.self) { try database.purge("bread") }
        #expect(try database.document("bread") != nil)
    }

    @Test func `a number of an operation out of range is an error of the next operation, not a crash`() throws {
        var options = DatabaseOptions()
        options.journal = true
        let sound = try Database.open(folder.path("a"), options: options)
        try sound.save(Document(id: "new"), onConflict: .fail)
        sound.close()
        let database = try damaged("UPDATE journal SET number = 9223372036854775807")
        #expect(throws: DatabaseError.self) { try database.save(Document(id: "newer"), onConflict: .fail) }
        #expect(try database.document("newer") == nil)
        #expect(database.journal?.count == 1)
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func `an expiration date out of range has passed or not, like any other`(date: String) throws {
        let database = try damaged("UPDATE expirations SET at = \(date)")
        _ = try database.expiration(of: "bread")
        // A time before all others has passed, one after all others has not.
        try database.purgeExpired()
        #expect(try (database.document("bread") == nil) == date.hasPrefix("-"))
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func `the next compaction forgets a time of a compaction that is out of range`(time: String) throws {
        let database = try damaged(
            "INSERT INTO settings VALUES(CAST('content_marks' AS BLOB), '[[\(time),1]]')")
        #expect(try database.compact(keepingOldContentsFor: .seconds(1)).contents == 0)
        #expect(try database.setting("content_marks")?.contains(time) == false)
        #expect(try database.verify().problems == [])
    }

    @Test(arguments: ["-1", "0", "x"])
    func `a revision limit below one counts as one`(limit: String) throws {
        let database = try damaged("INSERT INTO settings VALUES(CAST('revision_limit' AS BLOB), '\(limit)')")
        var bread = try #require(try database.document("bread"))
        bread["n"] = 1
        try database.save(bread, onConflict: .fail)
        #expect(try database.verify().problems == [])
    }

    @Test(arguments: ["id = CAST(id AS TEXT)", "id = x'ff'"])
    func `purging an expiration that can't be removed ends with an error`(change: String) throws {
        let database = try damaged("UPDATE expirations SET \(change), at = 1")
        #expect(throws: DatabaseError.self) { try database.purgeExpired() }
    }

    @Test func `an index that disagrees with its table is an error of reading`() throws {
        let database = try damaged(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX documents_by_id ON documents(id DESC)'
                WHERE name = 'documents_by_id';
            """)
        #expect(try !database.verify().isSound)
        #expect(throws: DatabaseError.self) { try database.documents() }
    }

    @Test func `a file without tables is damaged and stays unchanged`() throws {
        let path = folder.path("a/database.sqlite")
        try RawFile(path: path).execute(
            """
            PRAGMA journal_mode = DELETE; PRAGMA writable_schema = ON; DELETE FROM sqlite_schema;
            """)
        let before = try Data(contentsOf: URL(filePath: path))
        #expect(throws: DatabaseError.self) { try Database.open(folder.path("a")) }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
}
