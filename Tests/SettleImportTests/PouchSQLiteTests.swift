import Foundation
import SettleCore
import SettleCrypto
import SettlePlatform
import Testing

@testable import SettleImport

/// Databases of PouchDB on SQLite.
@Suite struct PouchSQLiteTests {
    @Test(.enabled(if: FixtureFiles.has("pouchdb-websql-made")))
    func `the leaves are those of PouchDB's own answers`()
        throws
    {
        let url = FixtureFiles.url("pouchdb-websql-made/_pouch_fix")
        let before = try FixtureFiles.state(of: url)
        do {
            for place in [url, url.deletingLastPathComponent()] {
                let reader = try #require(try ForeignSQLite.reader(at: place))
                let probe = try ForeignProbe(reader)
                try probe.compare(withAnswers: try FixtureFiles.json("pouchdb-leveldb-made/truth_open_revs.json"))
                #expect(probe.leafCount == 18 && probe.faults.isEmpty, "\(probe.faults)")
                #expect(probe.locals == ["_local/mine": ["cursor": 17]])
                #expect(probe.bases["conflict"]?.first?.value.body == ["v": "base"])
                #expect(try reader.count(in: defaultCollection) == probe.leaves.count)
                #expect(probe.sequences == probe.sequences.sorted())
                try reader.check()
            }
            #expect(try ForeignDatabase(at: url).kind == .pouchdb)
            #expect(throws: ForeignFileError.self) { try ForeignDatabase(at: url, kind: .couchbase1) }
        }
        #expect(try FixtureFiles.state(of: url) == before)
    }

    private static let schema = [
        "CREATE TABLE 'document-store' (id unique, json, winningseq, max_seq INTEGER UNIQUE)",
        "CREATE TABLE 'by-sequence' (seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, json, deleted TINYINT(1), doc_id, rev)",
        "CREATE TABLE 'attach-store' (digest UNIQUE, escaped TINYINT(1), body BLOB)",
        "CREATE TABLE 'local-store' (id UNIQUE, rev, json)",
        "CREATE TABLE 'metadata-store' (dbid, db_version INTEGER)",
        "INSERT INTO 'metadata-store' VALUES('the-id', 7)",
    ]

    private func digest(_ bytes: [UInt8]) -> String {
        let md5 = MD5()
        md5.update(bytes)
        return "md5-" + Base64.encode(md5.finish())
    }

    @Test func `contents are read as bytes, as escaped text, and as nothing where they are empty`() throws {
        let made = try MadeDatabase()
        let (plain, odd) = ([UInt8](repeating: 7, count: 200_000), [UInt8](0...255) + [0, 0, 1, 2, 1])
        // 0, 1 and 2 are pairs, and each byte is a character.
        let escaped = odd.map { $0 == 0 ? [1, 1] : $0 == 1 ? [1, 2] : $0 == 2 ? [2, 2] : [$0] }.joined()
        let text = String(String.UnicodeScalarView(escaped.map { Unicode.Scalar($0) }))
        let contents = [("plain", plain), ("odd", odd), ("empty", []), ("gone", [9])] as [(String, [UInt8])]
        let list = contents.map { name, bytes in
            #""\#(name)":{"content_type":"a/b","revpos":1,"digest":"\#(digest(bytes))","length":\#(bytes.count),"stub":true}"#
        }
        let json = #"{"v":1,"_attachments":{\#(list.joined(separator: ","))}}"#
        let metadata = #"{"id":"a","rev_tree":[{"pos":1,"ids":["aa",{"status":"available"},[]]}]}"#
        let url = try made.sqlite(
            "_pouch_a",
            Self.schema + [
                "INSERT INTO 'document-store' VALUES('a', '\(metadata)', 1, 1)",
                "INSERT INTO 'by-sequence' VALUES(1, '\(json)', 0, 'a', '1-aa')",
                "INSERT INTO 'attach-store' VALUES('\(digest(plain))', 0, \(MadeDatabase.blob(plain)))",
                "INSERT INTO 'attach-store' VALUES('\(digest(odd))', 1, CAST(\(MadeDatabase.blob(Array(text.utf8))) AS TEXT))",
            ])
        let reader = try #require(try ForeignSQLite.reader(at: url))
        #expect(reader.identity == "the-id")
        let leaf = try #require(try reader.documents().first?.leaves.first)
        #expect(leaf.body == ["v": 1])
        let found = try leaf.attachments.map { try reader.isWhole($0) }
        #expect(leaf.attachments.map(\.name) == contents.map(\.0) && found == [true, true, true, nil])
    }

    @Test func `documents of which the newest sequence is not stored are in the order of their bodies`() throws {
        let made = try MadeDatabase()
        func metadata(_ id: String) -> String {
            #"{"id":"\#(id)","rev_tree":[{"pos":1,"ids":["aa",{"status":"available"},[["bb",{"status":"available"},[]]]]}]}"#
        }
        var rows: [String] = []
        // The sequences of the bodies: a 1, 5; b 2, 3; c 4, 6. Only that of c is among the documents.
        for (id, winning, newest) in [("a", "NULL", "NULL"), ("b", "NULL", "NULL"), ("c", "6", "NULL")] {
            rows.append("INSERT INTO 'document-store' VALUES('\(id)', '\(metadata(id))', \(winning), \(newest))")
        }
        for (sequence, id, revision) in [
            (1, "a", "1-aa"), (2, "b", "1-aa"), (3, "b", "2-bb"), (4, "c", "1-aa"), (5, "a", "2-bb"), (6, "c", "2-bb"),
        ] {
            let body = "{\"v\":\(sequence)}"
            rows.append("INSERT INTO 'by-sequence' VALUES(\(sequence), '\(body)', 0, '\(id)', '\(revision)')")
        }
        let url = try made.sqlite("_pouch_a", Self.schema + rows)
        let reader = try #require(try ForeignSQLite.reader(at: url))
        let documents = try reader.documents()
        #expect(documents.map(\.id) == ["b", "a", "c"] && documents.map(\.sequence) == [3, 5, 6])
        #expect(documents.map { $0.leaves.first?.body["v"]?.int } == [3, 5, 6])
        #expect(try reader.documents(after: 3).map(\.id) == ["a", "c"])
        #expect(try reader.count(in: defaultCollection) == 3)
    }

    @Test func `damaged metadata is a fault of its document, and old databases are refused`() throws {
        let made = try MadeDatabase()
        let url = try made.sqlite(
            "_pouch_a",
            Self.schema + [
                "INSERT INTO 'document-store' VALUES('a', '{\"rev_tree\":[{', 1, 1)",
                "INSERT INTO 'local-store' VALUES('_local/b', '0-1', 'no JSON')",
            ])
        let reader = try #require(try ForeignSQLite.reader(at: url))
        let document = try #require(try reader.documents().first)
        #expect(document.leaves.isEmpty && document.faults.count == 1)
        #expect(try reader.localDocuments().isEmpty && reader.leftOut.count == 1)
        let old = try made.sqlite(
            "_pouch_old", ["CREATE TABLE 'document-store' (id, json)", "CREATE TABLE 'by-sequence' (seq, json)"])
        #expect {
            try ForeignSQLite.reader(at: old)
        } throws: { ($0 as? ForeignFileError)?.code == .unsupported }
    }
}
