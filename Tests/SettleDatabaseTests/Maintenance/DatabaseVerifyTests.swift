import Foundation
import PostgresTesting
import Settle
import SettleTesting
import Testing

/// Damage made without the database, and detected.
@Suite struct DatabaseVerifyTests {
    /// A damaging statement, and a part of the expected report.
    struct Damage: Sendable, CustomTestStringConvertible {
        let sql: String
        let finding: String
        var testDescription: String { finding }
    }

    private static let damages = [
        Damage(
            sql: "UPDATE documents SET body = '{\"v\":2}' WHERE id = x'61'",
            finding: "a: \"a\" is damaged, its content can't be read: its checksum"),
        Damage(
            sql: "UPDATE documents SET tree = (SELECT tree FROM documents WHERE id = x'63') WHERE id = x'61'",
            finding: "its revision tree can't be read: its checksum"),
        Damage(sql: "UPDATE contents SET body = '{\"v\":7}'", finding: "its checksum"),
        // Rows of an earlier format have no checksums.
        Damage(
            sql: "UPDATE documents SET body = '{\"v\":2}', attachments = NULL WHERE id = x'61'",
            finding: "its content hashes to"),
        Damage(
            sql: "UPDATE documents SET body = '{\"v\": 1}', attachments = NULL WHERE id = x'63'",
            finding: "not in compact form"),
        Damage(
            sql: "UPDATE documents SET body = '{\"v\":', attachments = NULL WHERE id = x'63'",
            finding: "its body is damaged"),
        Damage(sql: "UPDATE documents SET flags = 1 WHERE id = x'61'", finding: "the counts are"),
        Damage(sql: "UPDATE documents SET flags = 0 WHERE id = x'63'", finding: "the index has 0 conflicts"),
        Damage(sql: "DELETE FROM contents", finding: "its content is missing"),
        Damage(sql: "INSERT INTO contents(body) VALUES('{}')", finding: "contents are kept apart"),
        Damage(sql: "DELETE FROM blobs", finding: "the content of \"small\" is missing"),
        Damage(sql: "UPDATE blobs SET content = x'050607' WHERE content IS NOT NULL", finding: "is damaged"),
        Damage(sql: "UPDATE blobs SET md5 = x'00'", finding: "is not what its digest or length says"),
        Damage(sql: "UPDATE blobs SET length = 1", finding: "the length of the attachment content"),
        Damage(
            sql: "UPDATE blobs SET length = 1 WHERE content IS NULL", finding: "is not what its digest or length says"),
        Damage(sql: "UPDATE blobs SET length = -1", finding: "attachment content"),
        Damage(sql: "UPDATE blobs SET length = 9999", finding: "attachment content"),
        Damage(sql: "UPDATE blobs SET digest = zeroblob(32) WHERE content IS NULL", finding: "missing"),
        Damage(
            sql: "INSERT INTO expirations VALUES(x'7A7A', 4000000000000)",
            finding: "has a date to expire but is not there"),
        Damage(
            sql: """
                UPDATE documents SET tree = (SELECT substr(tree, 10) FROM documents WHERE id = x'63'), body = '{"v":1}',
                    attachments = NULL
                WHERE id = x'61'
                """, finding: "or others"),
    ]

    /// A database with a plain document, one with attachments and one in conflict, closed; its path.
    private func filled(_ folder: TemporaryFolder) throws -> String {
        let database = try Database.create(folder("x.settle"))
        defer { database.close() }
        try database.add("a")
        let attachments = [
            try database.makeAttachment("small", content: [1, 2, 3]),
            try database.makeAttachment("large", content: [UInt8](repeating: 4, count: 80_000)),
        ]
        try database.save(Document(id: "b", attachments: attachments), onConflict: .fail)
        try database.insertReplicated([peer("c", try path("1-a"), ["v": 1]), peer("c", try path("1-b"), ["v": 2])])
        #expect(try database.problems() == [])
        return folder("x.settle")
    }

    @Test(arguments: damages)
    func `planted damage is found`(damage: Damage) throws {
        let folder = try TemporaryFolder()
        let path = try filled(folder)
        try RawSQLite(path + "/database.sqlite").run(damage.sql)
        let database = try Database.open(path)
        let problems = try database.problems()
        #expect(problems.contains { $0.contains(damage.finding) }, "\(problems)")
        database.close()
    }

    @Test func `damaged files of attachments are found`() throws {
        let folder = try TemporaryFolder()
        let path = try filled(folder)
        let files = try FileManager.default.subpathsOfDirectory(atPath: path + "/attachments").filter { $0.count > 60 }
        let file = URL(fileURLWithPath: path + "/attachments/" + (try #require(files.first)))
        let database = try Database.open(path)
        var bytes = try Data(contentsOf: file)
        bytes[70_000] ^= 1
        try bytes.write(to: file)
        #expect(try database.problems().contains { $0.contains("its digests or its length differ") })
        try bytes.dropLast(1).write(to: file)
        #expect(try database.problems().contains { $0.contains("cut short") })
        try FileManager.default.removeItem(at: file)
        #expect(try database.problems().contains { $0.contains("is missing") })
        database.close()
    }

    @Test(arguments: [
        "UPDATE documents SET tree = x'FF' WHERE id = x'61'", "UPDATE documents SET tree = zeroblob(0)",
        "UPDATE documents SET tree = randomblob(40)", "UPDATE documents SET attachments = '[[1]]' WHERE id = x'61'",
    ])
    func `an unreadable record is an error, or a finding, and never a crash`(sql: String) throws {
        let folder = try TemporaryFolder()
        let path = try filled(folder)
        try RawSQLite(path + "/database.sqlite").run(sql)
        let database = try Database.open(path)
        do { #expect(try !database.verify().isSound) } catch { #expect((error as? DatabaseError)?.code == .corrupt) }
        _ = code { try database.document("a") }
        _ = code { try database.compact() }
        database.close()
    }

    @Test func `a damaged index is found`() throws {
        let folder = try TemporaryFolder()
        let path = try filled(folder)
        let raw = try RawSQLite(path + "/database.sqlite")
        try raw.run(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = 'CREATE INDEX documents_by_flags ON documents(flags, id) WHERE flags > -1'
            WHERE name = 'documents_by_flags';
            """)
        let database = try Database.open(path)
        #expect(try database.problems().contains { $0.hasPrefix("file: ") })
        database.close()
    }

    @Test(arguments: Kinds.all)
    func `a sound database is reported sound, is counted, and stays unchanged`(kind: DatabaseKind) throws {
        try withTemporaryDatabase(kind) { database in
            try database.add("a")
            try database.set("a", "v", 2)
            try database.insertReplicated([peer("c", try path("2-a", "z")), peer("c", try path("1-b"))])
            let attachment = try database.makeAttachment("x", content: [1])
            try database.save(Document(id: "d", attachments: [attachment]), onConflict: .fail)
            let before = try database.lastSequence()
            let told = Log<MaintenanceProgress>()
            let report = try database.verify { told.add($0) }
            #expect(report.isSound)
            #expect(report.documents == 3)
            #expect(report.revisions == 6)
            #expect(report.contents == 5)
            #expect(report.blobs == 1)
            #expect(!told.values.isEmpty)
            #expect(try database.lastSequence() == before)
        }
    }
}
