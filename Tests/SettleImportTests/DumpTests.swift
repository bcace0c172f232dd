import Foundation
import Settle
import SettlePlatform
import Testing

@testable import SettleImport

/// Dumps are known by their content, and any other file is refused as a whole.
struct DumpTests {
    private static let documents = ["{\"_id\":\"a\",\"v\":1}", "{\"_id\":\"b\",\"v\":2}"]

    private func read(
        _ text: String, _ kind: ForeignDatabase.Kind? = nil, pieces length: Int = .max
    ) throws -> (texts: [String], reader: RecordReader) {
        let reader = RecordReader(kind, pieces(of: Array(text.utf8), length))
        return (try records(of: reader).map(text(_:)), reader)
    }

    private func refusal(_ text: String) throws -> ForeignFileError {
        try #require(throws: ForeignFileError.self) { try read(text) }
    }

    @Test(arguments: [
        ("{\"a\":\"_id\"}\n", DumpKind.documents), ("{\"rows\":[1,2]}\n", .documents),
        ("{\"_id\":\"a\",\"docs\":[{\"x\":1}]}\n", .documents), ("{\"rows\":[{\"n\":1}],\"_id\":\"s\"}\n", .documents),
        ("{\"offset\":3,\"_id\":\"t\"}\n{\"docs\":[1]}\n", .documents), ("[{\"docs\":[]}]", .array),
    ])
    func `documents that resemble an answer are documents`(text: String, form: DumpKind) throws {
        for length in [1, 3, 1000] {
            let (texts, reader) = try read(text, pieces: length)
            #expect(reader.form == form)
            let whole =
                form == .array ? [String(text.dropFirst().dropLast())] : text.split(separator: "\n").map(String.init)
            #expect(texts == whole)
        }
    }

    @Test(arguments: [
        "{\"total_rows\":2,\"offset\":0,\"rows\":[\n{\"id\":\"a\",\"key\":\"a\",\"value\":{},\"doc\":DOC0},\n{\"id\":\"b\",\"key\":1,\"value\":{},\"doc\":DOC1}\n]}\n",
        "{\"rows\":[{\"id\":\"a\",\"doc\":DOC0},{\"id\":\"x\",\"value\":{\"rev\":\"2-x\",\"deleted\":true},\"doc\":null},{\"key\":\"q\",\"error\":\"not_found\"},{\"id\":\"b\",\"doc\":DOC1}]}",
        "{\"results\":[{\"seq\":1,\"id\":\"a\",\"changes\":[{\"rev\":\"1-a\"}],\"doc\":DOC0},{\"seq\":2,\"id\":\"b\",\"changes\":[],\"doc\":DOC1}],\"last_seq\":2,\"pending\":0}",
        "{\"seq\":1,\"id\":\"a\",\"changes\":[],\"doc\":DOC0}\n\n{\"seq\":2,\"id\":\"b\",\"changes\":[],\"doc\":DOC1}\n{\"last_seq\":2,\"pending\":0}\n",
        "{\"bookmark\":\"x\",\"docs\":[DOC0,DOC1],\"warning\":\"none\"}", "{\"new_edits\":false,\"docs\":[DOC0,DOC1]}",
        "{\"version\":\"1.0\",\"db_type\":\"http\",\"db_info\":{}}\n{\"docs\":[DOC0]}\n{\"seq\":1}\n{\"docs\":[DOC1]}\n{\"seq\":2}\n",
        "{\"name\":\"@cloudant/couchbackup\",\"version\":\"2.9\",\"mode\":\"full\"}\n[DOC0]\n{\"marker\":\"@cloudant/couchbackup:resume\"}\n[DOC1]\n",
        "[DOC0]\n[DOC1]\n", "DOC0\nDOC1", "DOC0 DOC1", "[DOC0] [DOC1]", "{\"docs\":[DOC0]}{\"docs\":[DOC1]}",
    ])
    func `each form gives its documents, however the input is cut`(form: String) throws {
        let text = form.replacing("DOC0", with: Self.documents[0]).replacing("DOC1", with: Self.documents[1])
        for length in [1, 2, 5, 1000] { #expect(try read(text, pieces: length).texts == Self.documents) }
    }

    @Test func `pretty-printed documents may follow one another`() throws {
        let text = "{\n  \"_id\": \"a\"\n}\n{\n  \"_id\": \"b\",\n  \"l\": [1,\n 2]\n}\n"
        let (texts, reader) = try read(text)
        #expect(texts.count == 2 && reader.form == .documents)
        #expect(try records(of: RecordReader(nil, pieces(of: Array(text.utf8), 4))).map(\.line) == [1, 4])
    }

    @Test(arguments: [
        ("[{\"a\":1}] x", 1, "something else"), ("[{\"a\":1}]\n\n]", 3, "something else"),
        ("{\"docs\":[{\"a\":1}]}\n7", 2, "something else"), ("{\"docs\":[{\"a\":1}] \n\"x\"}", 2, "a comma or }"),
        ("{\"docs\":[{\"a\":1}]}\n{\"a\":2}", 2, "an object without a list"),
    ])
    func `rubbish after the documents is an error with its line`(text: String, line: Int, problem: String) throws {
        let all = try records(of: RecordReader(nil, pieces(of: Array(text.utf8), 3)))
        #expect(all.count == 2 && all[0].problem == nil)
        #expect(all.last?.line == line && all.last?.problem?.contains(problem) == true, "\(all)")
    }

    @Test func `what an import leaves out is noted`() throws {
        let (texts, reader) = try read(
            """
            {"rows":[{"id":"_local/log","doc":{"_id":"_local/log","history":[],"session_id":"s"}},
            {"id":"_local/mine","doc":{"_id":"_local/mine","n":1}}],"update_seq":"9-x","more":{"x":[1]}}
            """)
        #expect(texts == ["{\"_id\":\"_local/mine\",\"n\":1}"])
        #expect(reader.notes.checkpoints == 1 && reader.notes.otherMembers == ["more"])
        let changes = try read(
            #"{"results":[{"seq":1,"id":"a","changes":[{},{}],"deleted":true,"doc":{"_id":"a"}}],"last_seq":"3-x"}"#)
        #expect(changes.reader.notes.lastSequence == "3-x" && changes.reader.notes.conflicts == 1)
    }

    @Test(arguments: [
        #"{"results":[{"seq":1,"id":"a","changes":[{"rev":"2-a"},{"rev":"2-b"}],"doc":DOC}],"last_seq":1}"#,
        #"{"results":[{"seq":1,"id":"a","changes":[{"rev":"2-a"}],"doc":DOC}],"last_seq":1}"#,
        #"{"rows":[{"id":"a","key":"a","value":{"rev":"2-a"},"doc":DOC}]}"#,
    ])
    func `a document of which a dump lacks conflicts is counted once, by each way to import it`(form: String) throws {
        let document = #"{"_id":"a","_rev":"2-a","_conflicts":["2-b"]}"#
        let text = Array(form.replacing("DOC", with: document).utf8)
        let note = "1 document with conflicts, of which this dump lacks the other revisions"
        let database = try Database.inMemory()
        let report = try database.importAll(from: ForeignDatabase(stream: RecordReader(nil, pieces(of: text, .max))))
        #expect(report.leftOut.contains(note), "\(report)")
        // Nobody has counted the conflicts among the revisions.
        #expect(report.json["conflicts"] == .null && !report.description.contains("0 conflicts"), "\(report)")
        let source = try ForeignDatabase(stream: RecordReader(nil, pieces(of: text, 5)))
        let scratch = try Database.inMemory()
        let inspected = try source.inspect(ImportOptions(), verifies: false, scratch: scratch) { _ in }
        #expect(inspected.leftOut.contains(note), "\(inspected)")
    }

    @Test func `a backup that was interrupted is read without its broken lines`() throws {
        let header = "{\"name\":\"@cloudant/couchbackup\",\"version\":\"2.9\",\"mode\":\"full\"}\n"
        let resumed = try read(
            header + "[{\"_id\":\"a\"},{\"_i{\"marker\":\"@cloudant/couchbackup:resume\"}\n[{\"_id\":\"a\"}]\n")
        #expect(resumed.texts == ["{\"_id\":\"a\"}"] && resumed.reader.notes.brokenLines == 1)
        let broken = try records(
            of: RecordReader(nil, pieces(of: Array((header + "[{\"_id\"\n[{\"_id\":\"a\"}]\n").utf8), 9)))
        #expect(broken.map { $0.problem == nil } == [false, true] && broken[0].line == 2)
        let old = try read("[{\"_id\":\"a\"}]\n[{\"_id\"\n[{\"_id\":\"b\"}]\n")
        #expect(old.texts.count == 2 && old.reader.notes.brokenLines == 1 && old.reader.form == .couchbackupLines)
        let given = try read("[{\"_id\"\n[{\"_id\":\"b\"}]\n", .couchbackup)
        #expect(given.texts == ["{\"_id\":\"b\"}"] && given.reader.notes.brokenLines == 1)
    }

    @Test(arguments: [
        ("{", "ends"), ("hello", "begins with \"h\""), ("7", "begins with"),
        ("{\"_id\":\"a\" \"x\":1}\n{}", "line 1, column 12"),
        ("[1,2]", "column 2"),
        ("{\"rows\":[{\"id\":\"a\",\"key\":\"a\",\"value\":{\"rev\":\"1-a\"}}]}", "include_docs=true"),
        ("{\"results\":[{\"seq\":1,\"id\":\"a\",\"changes\":[]}]}", "include_docs=true"),
        ("{\"seq\":1,\"id\":\"a\",\"changes\":[]}\n", "include_docs=true"),
    ])
    func `an input that can't be imported is refused as a whole`(text: String, complaint: String) throws {
        let message = try refusal(text).message
        #expect(message.contains(complaint), "\(message)")
    }

    @Test func `a kind that the input is not is refused`() throws {
        let error = try #require(throws: ForeignFileError.self) { try read("{\"_id\":\"a\"}\n", .firestore) }
        #expect(error.message.contains("is not firestore") && error.message.contains("JSON documents"))
    }

    @Test(arguments: ["", "\n", "[]"], [ForeignDatabase.Kind.mongo, .json, .couchdb])
    func `an input without documents is of each kind`(text: String, kind: ForeignDatabase.Kind) throws {
        #expect(try read(text, kind).texts.isEmpty)
    }

    @Test func `MongoDB's Extended JSON becomes plain JSON`() throws {
        let (texts, reader) = try read(
            """
            {"_id":{"$oid":"5f1a"},"l":{"$numberLong":"9007199254740993"},"i":{"$numberDouble":"Infinity"},"__v":0,\
            "at":{"$date":{"$numberLong":"1543579505000"}},"on":{"$date":"2018-11-30T12:05:05Z"},\
            "b":{"$binary":"AAEC","$type":"00"},"c":{"$binary":{"base64":"AAEC","subType":"00"}},"p":{"$price":3}}
            {"_id":42,"old":{"$date":{"$numberLong":"-62135596800001"}}}
            {"_id":{"a":1}}
            """)
        #expect(reader.form == .mongo)
        #expect(
            texts == [
                #"{"_id":"5f1a","l":9007199254740993,"i":"Infinity","v":0,"at":"2018-11-30T12:05:05.000Z","on":"2018-11-30T12:05:05.000Z","b":"AAEC","c":"AAEC","p":{"$price":3}}"#,
                #"{"_id":"42","old":"0000-12-31T23:59:59.999Z"}"#, #"{"_id":"{\"a\":1}"}"#,
            ])
        #expect(try read("[{\"_id\":{\"$oid\":\"5f\"}}]").texts == [#"{"_id":"5f"}"#])
    }

    @Test func `Firestore's collections become documents by their paths`() throws {
        let (texts, reader) = try read(
            #"{"__collections__":{"users":{"ada":{"n":1,"at":{"__datatype__":"timestamp","value":{"_seconds":1543579505,"_nanoseconds":500000000}},"#
                + #""to":{"__datatype__":"documentReference","value":"users/bob"},"__collections__":{"notes":{"n1":{"t":"x","__collections__":{}}}}}}}}"#
        )
        #expect(reader.form == .firestore)
        #expect(
            texts == [
                #"{"_id":"users/ada","n":1,"at":"2018-11-30T12:05:05.500Z","to":"users/bob"}"#,
                #"{"_id":"users/ada/notes/n1","t":"x"}"#,
            ])
    }

    @Test func `fields of Firestore with reserved names are neither the id nor the revision of a document`() throws {
        let (texts, _) = try read(
            #"{"__collections__":{"c":{"d":{"_id":"x","_rev":"1-a","_deleted":true,"n":{"_id":"y"}}}}}"#)
        #expect(texts == [#"{"_id":"c/d","id":"x","rev":"1-a","deleted":true,"n":{"_id":"y"}}"#])
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807", "4398046511104"])
    func `a time of Firestore that is no date stays as it is`(seconds: String) throws {
        let (texts, _) = try read(
            #"{"__collections__":{"c":{"d":{"t":{"__datatype__":"timestamp","value":{"_seconds":\#(seconds)}}}}}}"#)
        #expect(texts == [#"{"_id":"c/d","t":{"_seconds":\#(seconds)}}"#])
    }

    @Test func `gzip, UTF-16 and byte order marks are read, and binary files refused`() throws {
        let text = "{\"_id\":\"ü😀\"}\n{\"_id\":\"b\"}\n"
        func read(_ bytes: [UInt8], _ length: Int) throws -> [String] {
            let input = TextInput(pieces(of: bytes, length))
            return try records(of: RecordReader(nil) { try input.read() }).map(SettleImportTests.text)
        }
        let zipped = try Deflate.compress(Array(text.utf8), .gzip)
        let little: [UInt8] =
            [0xFF, 0xFE] + text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] as [UInt8] }
        let big: [UInt8] =
            [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] as [UInt8] }
        let whole = ["{\"_id\":\"ü😀\"}", "{\"_id\":\"b\"}"]
        for bytes in [
            Array(text.utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8), zipped, little, big, Array(little.dropFirst(2)),
        ] {
            for length in [1, 3, 1000] { #expect(try read(bytes, length) == whole) }
        }
        for (bytes, advice) in [
            (Array("SQLite format 3\0".utf8), "SQLite"), ([0x28, 0xB5, 0x2F, 0xFD, 1], "zstd"),
            ([1, 2, 0, 3, 0, 0], "binary"),
            (Array(zipped.dropLast(9)), "gzip"),
        ] {
            let error = try #require(throws: ForeignFileError.self) { try read(bytes, 1000) }
            #expect(error.message.contains(advice), "\(error.message)")
        }
    }

    // MARK: Real Files

    private struct Expected: Codable {
        let revisions: Int
        let deleted: Int
        let ids: Int
        let badLines: [Int]
    }

    @Test(.enabled(if: FixtureFiles.areThere), arguments: ["couchbackup", "couchdb-3.5", "pouchdb-dump"])
    func `dumps of other products have the expected documents`(folder: String) throws {
        let place = FixtureFiles.url(folder)
        let data = try Data(contentsOf: place.appending(path: "dumps.expected.json"))
        for (name, expected) in try JSONDecoder().decode([String: Expected].self, from: data) {
            let file = place.appending(path: name)
            if expected.revisions == 0 {
                let isOld = name.contains("corrupted_old")
                guard !isOld else { continue }
                #expect(throws: ForeignFileError.self, "\(name)") { try ForeignDatabase(at: file) }
                continue
            }
            let database = try Database.inMemory()
            let report = try database.importAll(from: ForeignDatabase(at: file))
            #expect(report.leaves + report.localDocuments == expected.revisions, "\(name): \(report)")
            #expect(report.lostRevisions == expected.badLines.count, "\(name): \(report)")
            let info = try database.info()
            let locals = try database.localDocuments().count
            #expect(report.localDocuments == locals, "\(name): \(report)")
            #expect(info.documents.live + info.documents.deleted + locals == expected.ids, "\(name)")
            // A second import finds all there.
            let again = try database.importAll(from: ForeignDatabase(at: file))
            #expect(again.known + locals == expected.revisions, "\(name): \(again)")
        }
    }

    @Test func `the report of a dump has its attachments, local documents, and what it lacks`() throws {
        let made = try MadeDatabase()
        let text = """
            {"_id":"a","_rev":"1-a","_attachments":{"x":{"content_type":"a/b","data":"aGk="},"gone":{"stub":true,"digest":"md5-x","length":1}}}
            {"_id":"_local/mine","n":1}
            {"_id":"b","_rev":"1"}

            """
        let file = try made.file("dump.jsonl", Array(text.utf8))
        let database = try Database.inMemory()
        for report in [
            try ForeignDatabase(at: file).inspect(ImportOptions(), verifies: false, scratch: .inMemory()) { _ in },
            try database.importAll(from: ForeignDatabase(at: file)),
            try database.importAll(from: ForeignDatabase(at: file)),
        ] {
            #expect(report.documents == 2 && report.leaves == 1 && report.localDocuments == 1, "\(report)")
            #expect(report.attachments == 1 && report.attachmentBytes == 2, "\(report)")
            #expect(report.lostAttachments == 1 && report.lostRevisions == 1, "\(report)")
            #expect(report.notTaken.map(\.attachment) == ["gone", nil], "\(report)")
            #expect(report.description.contains("          line 3: "), "\(report)")
        }
    }

    @Test(.enabled(if: FixtureFiles.areThere)) func `the parts of a dump in a folder are one dump`() throws {
        let database = try Database.inMemory()
        let source = try ForeignDatabase(at: FixtureFiles.url("pouchdb-dump/bloggr-split"))
        let report = try database.importAll(from: source)
        #expect(report.leaves == 48 && report.isWhole && source.kind == .pouchdb, "\(report)")
        #expect(report.leftOut.contains { $0.contains("sequence 47") })
    }
}
