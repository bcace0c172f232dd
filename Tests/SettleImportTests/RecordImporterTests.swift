import Settle
import Testing

@testable import SettleImport

struct RecordImporterTests {
    private let database: Database

    init() throws { database = try Database.inMemory() }

    @discardableResult
    private func load(
        _ text: String, _ options: RecordImporter.Options = RecordImporter.Options()
    ) throws -> (counts: RecordImporter.Counts, failures: [String]) {
        try SettleImportTests.load(text, into: database, options)
    }

    @Test func `documents are saved under their ids or new ones`() throws {
        let (counts, failures) = try load("{\"_id\":\"a\",\"v\":1}\n{\"v\":2}\n")
        #expect(counts == RecordImporter.Counts(stored: 2) && failures.isEmpty)
        #expect(try database.document("a")?["v"]?.int == 1)
        let others = try database.documents().filter { $0.id != "a" }
        #expect(others.count == 1 && others[0].id.string.count == 32)
    }

    @Test func `an id is taken from the given member`() throws {
        let options = RecordImporter.Options(idAttribute: "mail")
        let text = #"[{"mail":"a@b"},{"mail":7},{"_id":"x","mail":"y"},{"n":1},{"mail":null}]"#
        let (counts, failures) = try load(text, options)
        #expect(counts.stored == 3 && counts.failed == 2)
        #expect(try database.documents().map(\.id.string) == ["7", "a@b", "x"])
        #expect(failures[0].contains("neither _id nor the member \"mail\""))
    }

    @Test func `existing documents are reported, overwritten or skipped`() throws {
        let text = "{\"_id\":\"a\",\"v\":2}\n"
        try load("{\"_id\":\"a\",\"v\":1}\n")
        let (failed, failures) = try load(text)
        #expect(failed == RecordImporter.Counts(failed: 1) && failures[0].hasPrefix("line 1: "))
        #expect(try load(text, RecordImporter.Options(onConflict: .skip)).counts == RecordImporter.Counts(skipped: 1))
        #expect(try database.document("a")?["v"]?.int == 1)
        #expect(
            try load(text, RecordImporter.Options(onConflict: .overwrite)).counts == RecordImporter.Counts(stored: 1))
        #expect(try database.document("a")?["v"]?.int == 2)
    }

    @Test func `malformed lines are reported with their positions and the others continue`() throws {
        let (counts, failures) = try load(
            """
            {"_id":"a"}
            {"_id":"b" "x":1}
            {"_id":"_c"}
            {"_id":"d","_x":1}
            {"_id":"e","_deleted":true}
            {"_id":"f","_rev":"nonsense"}
            {"_id":"g","_rev":"2-x","_revisions":{"start":2,"ids":["y"]}}
            {"_id":"h","_revisions":{"start":1,"ids":["x","y"]}}
            {"_id":"i","_attachments":{"t":{"data":"%"}}}
            7
            {"_id":"z"}
            """)
        #expect(counts == RecordImporter.Counts(stored: 2, failed: 9))
        #expect(failures.map { $0.prefix { $0 != ":" && $0 != "," } } == (2...10).map { "line \($0)" })
        #expect(failures[0] == "line 2, column 12: expected a comma or }")
        #expect(try database.documents().map(\.id) == ["a", "z"])
    }

    @Test(arguments: [1, 2, 1000])
    func `on request an import stops at the first failure`(batch: Int) throws {
        let options = RecordImporter.Options(batch: batch, stopsOnError: true)
        let text = "{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n{\"_id\":\"a\",\"v\":1}\n{\"_id\":\"c\"}\n{]\n"
        let (counts, failures) = try load(text, options)
        #expect(counts == RecordImporter.Counts(stored: 2, failed: 1) && failures.count == 1)
        #expect(try database.documents().count == 2)
    }

    @Test func `a revision keeps its id and its history`() throws {
        let line = #"{"_id":"a","_rev":"3-c","_revisions":{"start":3,"ids":["c","b","a"]},"_conflicts":["3-b"],"v":1}"#
        #expect(try load(line).counts == RecordImporter.Counts(stored: 1, revisions: 1, conflicts: 1))
        #expect(try load(line).counts == RecordImporter.Counts(known: 1, conflicts: 1))
        #expect(try database.tree(of: "a")?.revisions.map(\.description) == ["1-a", "2-b", "3-c"])
        #expect(try load(#"{"_id":"a","_rev":"4-d","_deleted":true}"#).counts.stored == 1)
    }

    @Test func `a document that is there with the same members is known`() throws {
        let line = #"{"_id":"a","v":1,"_attachments":{"b":{"data":"AQID"}}}"#
        let (first, second) = (try load(line).counts, try load(line).counts)
        #expect(first == RecordImporter.Counts(stored: 1, attachments: 1, attachmentBytes: 3))
        #expect(second == RecordImporter.Counts(known: 1, attachments: 1, attachmentBytes: 3))
        #expect(try database.tree(of: "a")?.leaves.count == 1)
    }

    @Test func `an attachment without content is reported, and its document is stored`() throws {
        let line =
            #"{"_id":"a","_rev":"1-a","v":1,"_attachments":{"b":{"stub":true,"digest":"md5-x"},"c":{"data":"AQID"}}}"#
        let (counts, failures) = try load(line)
        #expect(counts.stored == 1 && counts.lostAttachments == 1 && counts.failed == 0)
        #expect(failures.count == 1 && failures[0].contains("\"b\""), "\(failures)")
        #expect(try database.document("a")?.attachments.map(\.name) == ["c"])
        let strict = try load(line.replacing("1-a", with: "1-b"), RecordImporter.Options(isStrict: true))
        #expect(strict.counts.failed == 1 && strict.counts.stored == 0)
    }

    @Test func `inline attachments are stored and compressed as CouchDB does`() throws {
        try load(
            #"{"_id":"a","_attachments":{"t":{"content_type":"text/plain","data":"aGVsbG8K"},"b":{"data":"AQID"}}}"#)
        let document = try #require(try database.document("a"))
        #expect(document.attachments.map(\.name) == ["t", "b"])
        #expect(document.attachments.map(\.encoding) == [.gzip, .identity])
        #expect(try database.content(of: document.attachments[0]) == Array("hello\n".utf8))
        #expect(try database.content(of: document.attachments[1]) == [1, 2, 3])
    }

    @Test func `pieces of a content must follow each other and match their digest`() throws {
        let name = String(repeating: "ab", count: 32)
        let (counts, failures) = try load(
            """
            {"$blob":"\(name)","offset":0,"data":"AQID"}
            {"$blob":"\(name)","offset":4,"data":"AQID"}
            {"$blob":"\(name)","offset":0,"data":"AQID"}
            {"_id":"a","_rev":"1-a","_attachments":{"b":{"follows":"\(name)"}}}
            {"_id":"b","_rev":"1-b","_attachments":{"b":{"follows":"\(name)"}}}
            """)
        #expect(counts == RecordImporter.Counts(failed: 3))
        #expect(failures.map { $0.prefix(7) } == ["line 2:", "line 4:", "line 5:"])
    }

    @Test func `many batches store the same as one`() throws {
        let lines = (0..<250).map { "{\"_id\":\"\($0)\",\"_rev\":\"1-\($0)x\"}\n{\"_id\":\"s\($0)\"}\n{}{\n" }
        let (counts, failures) = try load(lines.joined(), RecordImporter.Options(batch: 7))
        #expect(counts == RecordImporter.Counts(stored: 500, revisions: 250, failed: 250) && failures.count == 250)
        #expect(try database.info().documents.live == 500)
    }
}
