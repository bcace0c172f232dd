import Foundation
import SettleCore
import SettleCrypto
import SettlePlatform
import Testing

@testable import SettleImport

/// Databases of Couchbase Lite 1.x and its family, made here row by row.
@Suite struct CouchbaseLite1ReaderTests {
    private let made: MadeDatabase

    init() throws { made = try MadeDatabase() }

    private func documents(_ rows: [String], schema: [String] = MadeDatabase.schemaOf1) throws -> [ForeignDocument] {
        let url = try made.sqlite("db.cblite", version: 102, schema + rows)
        return try #require(try ForeignSQLite.reader(at: url)).documents()
    }

    @Test func `documents come in the order of their highest sequences`() throws {
        let documents = try documents([
            MadeDatabase.document(1, "one"), MadeDatabase.document(2, "two"), MadeDatabase.document(3, "three"),
            MadeDatabase.row(1, "1-a", #"{"v":1}"#), MadeDatabase.row(2, "1-b", #"{"v":2}"#),
            MadeDatabase.row(1, "2-c", parent: 1, #"{"v":3.0}"#),
        ])
        #expect(documents.map(\.id.string) == ["two", "one"])
        #expect(documents.map(\.sequence) == [2, 3])
        #expect(documents[1].leaves[0].body.description == #"{"v":3.0}"#)
        #expect(documents[1].leaves[0].history.revisions.map(\.description) == ["2-c", "1-a"])
    }

    @Test func `a document whose sequence is not one of the product is read`() throws {
        let documents = try documents([
            MadeDatabase.document(1, "a"),
            "INSERT INTO revs(sequence, doc_id, revid, json) VALUES(-5, 1, '1-a', '{}')",
        ])
        #expect(documents.map(\.id.string) == ["a"] && documents.map(\.sequence) == [1])
    }

    @Test func `rows of the same revision are one, and children of either row belong to it`() throws {
        let documents = try documents([
            MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", #"{"v":1}"#),
            MadeDatabase.row(1, "1-a", #"{"v":1}"#),
            MadeDatabase.row(1, "2-b", parent: 1, #"{"v":2}"#), MadeDatabase.row(1, "2-b", parent: 2, #"{"v":2}"#),
            MadeDatabase.row(1, "3-c", parent: 3, deleted: true, nil),
            MadeDatabase.row(1, "3-c", parent: 4, deleted: true, nil),
        ])
        let leaf = try #require(documents.first?.leaves.first)
        #expect(documents[0].leaves.count == 1 && leaf.isDeleted && leaf.isDeletionAtSource)
        #expect(leaf.history.revisions.map(\.description) == ["3-c", "2-b", "1-a"])
    }

    @Test func `an attachment that a row lists several times is one, as the newest entry says`() throws {
        let key = SHA1.hash(Array("text".utf8))
        let entries = [[UInt8](repeating: 7, count: 20), key].map {
            "INSERT INTO attachments VALUES(1, 'a.txt', \(MadeDatabase.blob($0)), 'text/plain', 4, 1)"
        }
        let schema =
            MadeDatabase.schemaOf1 + [
                "CREATE TABLE attachments (sequence INTEGER, filename TEXT, key BLOB, type TEXT, length INTEGER, revpos INTEGER)"
            ]
        let documents = try documents(
            [MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", "{}")] + entries, schema: schema)
        let attachments = try #require(documents.first?.leaves.first).attachments
        #expect(attachments.map(\.name) == ["a.txt"] && attachments.map(\.digest) == [.sha1(key)])
    }

    @Test func `a branch point with a body is a base`() throws {
        let documents = try documents([
            MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", #"{"v":1}"#),
            MadeDatabase.row(1, "2-b", parent: 1, #"{"v":2}"#), MadeDatabase.row(1, "2-c", parent: 1, #"{"v":3}"#),
        ])
        #expect(documents[0].leaves.count == 2)
        #expect(documents[0].bases.map(\.revision.description) == ["1-a"] && documents[0].bases[0].body == ["v": 1])
    }

    @Test func `a history ends at a missing parent, a circle and a gap`() throws {
        let documents = try documents([
            MadeDatabase.document(1, "missing"), MadeDatabase.row(1, "5-a", parent: 99, "{}"),
            MadeDatabase.document(2, "gap"), MadeDatabase.row(2, "1-a", "{}"),
            MadeDatabase.row(2, "4-b", parent: 2, "{}"),
            MadeDatabase.document(3, "circle"), MadeDatabase.row(3, "1-a", parent: 5, "{}"),
            MadeDatabase.row(3, "2-b", parent: 4, "{}"), MadeDatabase.row(3, "2-c", parent: 6, "{}"),
        ])
        let histories = documents.map { $0.leaves.map { $0.history.revisions.map(\.description) } }
        #expect(histories == [[["5-a"]], [["4-b"]], [["2-b", "1-a"], ["2-c"]]])
    }

    @Test func `a live leaf without a body is a fault, and a tombstone without one is empty`() throws {
        let documents = try documents([
            MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", nil),
            MadeDatabase.row(1, "1-b", deleted: true, nil),
            MadeDatabase.row(1, "1-c", "{broken"),
        ])
        #expect(documents[0].leaves.map(\.revision.description) == ["1-b"] && documents[0].leaves[0].body == .empty)
        #expect(documents[0].faults.map { $0.revision?.description } == ["1-a", "1-c"])
        #expect(documents[0].faults.first?.message == "the body is not in the file")
    }

    @Test func `attachments are found whatever the case of their files, and damage is seen`() throws {
        let (content, other) = (Array("content".utf8), Array("other".utf8))
        let digits = Hexadecimal.encode(SHA1.hash(content))
        try made.file("db attachments/\(digits.uppercased()).blob", content)
        try made.file("db attachments/\(Hexadecimal.encode(SHA1.hash(other))).blob", content)
        func stub(_ bytes: [UInt8]) -> String {
            #"{"digest":"sha1-\#(Base64.encode(SHA1.hash(bytes)))","length":7,"revpos":1,"stub":true,"content_type":"text/plain"}"#
        }
        let json = """
            {"v":1,"_attachments":{"a":\(stub(content)),"b":\(stub(other)),"c":\(stub([])),"d":{"data":"AQID","content_type":"x/y"}}}
            """
        let url = try made.sqlite(
            "db.cblite", version: 102,
            MadeDatabase.schemaOf1 + [MadeDatabase.document(1, "a"), MadeDatabase.row(1, "1-a", json)])
        let reader = try #require(try ForeignSQLite.reader(at: url))
        let leaf = try #require(try reader.documents().first?.leaves.first)
        #expect(leaf.body == ["v": 1] && leaf.attachments.map(\.name) == ["a", "b", "c", "d"])
        #expect(try leaf.attachments.map { try reader.isWhole($0) } == [true, false, nil, true])
        #expect(try reader.content(of: leaf.attachments[3]) == [1, 2, 3] && leaf.attachments[3].length == 3)
    }

    @Test func `checkpoints are not local documents of the app`() throws {
        let digits = String(repeating: "a1", count: 20)
        let url = try made.sqlite(
            "db.cblite", version: 102,
            MadeDatabase.schemaOf1 + [
                #"INSERT INTO localdocs VALUES('_local/mine', '1-local', '{"_id":"_local/mine","cursor":1}')"#,
                #"INSERT INTO localdocs VALUES('_local/\#(digits)', '1-local', '{"lastSequence":"7"}')"#,
                #"INSERT INTO localdocs VALUES('_local/CBL_LocalCheckpoint', '1-local', '{"localUUID":"x"}')"#,
                "INSERT INTO localdocs VALUES('_local/broken', '1-local', 'no JSON')",
                "INSERT INTO localdocs VALUES('_local/', '1-local', '{}')",
                "INSERT INTO info VALUES('checkpoint/1', '7')",
            ])
        let reader = try #require(try ForeignSQLite.reader(at: url))
        #expect(try reader.localDocuments() == ["_local/mine": ["cursor": 1]])
        #expect(reader.leftOut.count == 3 && reader.identity == "private")
    }

    @Test func `a member whose name is reserved is a fault of its revision, except for metadata`() throws {
        let documents = try documents([
            MadeDatabase.document(1, "a"),
            MadeDatabase.row(
                1, "1-aa", #"{"v":1,"_price":3,"_id":"a","_rev":"1-aa","_deleted":false,"_local_seq":7}"#),
        ])
        #expect(documents[0].leaves.map(\.body) == [["v": 1]])
        let fault = try #require(documents[0].faults.first)
        #expect(documents[0].faults.count == 1 && fault.revision?.description == "1-aa")
        #expect(fault.message.contains("\"_price\""), "\(fault)")
    }

    @Test func `a member of a local document whose name is reserved is listed as left out`() throws {
        let json = #"{"_id":"_local/mine","_rev":"1-local","cursor":1,"_place":2}"#
        let url = try made.sqlite(
            "db.cblite", version: 102,
            MadeDatabase.schemaOf1 + ["INSERT INTO localdocs VALUES('_local/mine', '1-local', '\(json)')"])
        let reader = try #require(try ForeignSQLite.reader(at: url))
        #expect(try reader.localDocuments() == ["_local/mine": ["cursor": 1]])
        #expect(reader.leftOut.count == 1 && reader.leftOut.first?.contains("\"_place\"") == true)
    }

    @Test func `what the file's indexes hide is read`() throws {
        let rows = (1...50).flatMap { [MadeDatabase.document($0, "d\($0)"), MadeDatabase.row($0, "1-a", #"{"v":1}"#)] }
        let schema = MadeDatabase.schemaOf1 + ["CREATE INDEX revs_by_docid ON revs(doc_id)"]
        let url = try made.sqlite(
            "db.cblite", version: 102,
            schema + rows + [
                "PRAGMA writable_schema = ON",
                // The index is now one of another column.
                "UPDATE sqlite_master SET sql = 'CREATE INDEX revs_by_docid ON revs(parent)' WHERE name = 'revs_by_docid'",
            ])
        #expect(try #require(try ForeignSQLite.reader(at: url)).documents().count == 50)
    }
}
