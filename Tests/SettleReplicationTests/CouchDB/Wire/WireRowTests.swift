import SettleCore
import SettleDatabase
import Testing

@testable import SettleReplication

/// Rows and documents as servers send them.
struct WireRowTests {
    private func change(_ text: String) throws -> ParsedChange {
        try Array(text.utf8).withUnsafeBufferPointer { try ParsedChange($0, before: PeerSequence("4-b")) }
    }

    private func document(_ text: String) throws -> PeerRevision {
        try Array(text.utf8).withUnsafeBufferPointer { try PeerRevision(answer: $0) }
    }

    private func bulk(_ text: String) throws -> BulkGetAnswer {
        try Array(text.utf8).withUnsafeBufferPointer { try BulkGetAnswer($0) }
    }

    // SEMANTICS 204
    @Test(arguments: ["\"12-g1AAA\"", "12", "[12,\"g1AAA\"]", "\"3:7\""])
    func `a sequence is kept unchanged`(_ sequence: String) throws {
        let row = try change(
            #"{"seq":\#(sequence),"id":"a","changes":[{"rev":"2-b"}, {"rev" : "2-a" }],"deleted":true}"#)
        #expect(row.change?.sequence.json.description == sequence)
        #expect(try row.change?.leaves == [rev("2-b"), rev("2-a")])
        #expect(row.change?.isDeleted == true)
    }

    @Test func `a missing sequence is the one before`() throws {
        for text in [#"{"seq":null,"id":"a","changes":[{"rev":"1-a"}]}"#, #"{"id":"a","changes":[{"rev":"1-a"}]}"#] {
            let row = try change(text)
            #expect(
                row.sequence == nil && row.change?.sequence == PeerSequence("4-b") && row.change?.isDeleted == false)
        }
    }

    @Test func `a row without a document is skipped, one without a revision is refused`() throws {
        #expect(try change(#"{"seq":1,"id":"_user/anna","changes":[]}"#).change == nil)
        #expect(try change(#"{"seq":1,"id":"","changes":[{"rev":"1-a"}]}"#).change == nil)
        #expect(throws: WireFault.self) { try change(#"{"seq":1,"id":"a","changes":[{"rev":"x"}]}"#) }
        #expect(throws: WireFault.self) { try change(#"{"seq":1,"id":"a"}"#) }
        #expect(throws: WireFault.self) { try change(#"{"seq":1,"changes":[]}"#) }
    }

    @Test func `an id with escapes is read`() throws {
        #expect(try change(#"{"seq":1,"id":"a\"\u00e4","changes":[{"rev":"1-\u0061"}]}"#).change?.id == "a\"ä")
    }

    @Test func `a document is read with its history and the stubs of its attachments`() throws {
        let read = try document(
            #"""
            {"_id":"a","_rev":"2-b","n":1e3,"_deleted":true,"_revisions":{"start":2,"ids":["b","a"]},"_attachments":{
            "x":{"content_type":"text/plain","revpos":2,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","length":50,"stub":true,
            "encoding":"gzip","encoded_length":31},
            "y":{"content_type":"image/png","revpos":1,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","data":"aGVsbG8="}}}
            """#)
        #expect(read.id == "a" && read.isDeleted && read.body.description == #"{"n":1e3}"#)
        #expect(try read.history.revisions == [rev("2-b"), rev("1-a")])
        #expect(read.attachments.map(\.name) == ["x", "y"])
        #expect(read.attachments.map(\.length) == [50, 5] && read.attachments.map(\.encodedLength) == [31, 5])
        #expect(read.attachments[0].encoding == .gzip)
        guard case .bytes(Array("hello".utf8)) = read.attachments[1].content else {
            Issue.record("the content is \(read.attachments[1].content)")
            return
        }
    }

    @Test(arguments: [
        #"{"_id":"a"}"#, #"{"_rev":"1-a"}"#, #"{"_id":"a","_rev":"x"}"#, "[]",
        #"{"_id":"a","_rev":"2-b","_revisions":{"start":3,"ids":["b","a"]}}"#,
        #"{"_id":"a","_rev":"2-b","_revisions":{"start":1,"ids":["b","a"]}}"#,
        #"{"_id":"a","_rev":"1-a","_attachments":{"x":{"stub":true,"length":1}}}"#,
        #"{"_id":"a","_rev":"1-a","_attachments":{"x":{"stub":true,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg=="}}}"#,
    ])
    func `an incomplete document is refused`(_ text: String) {
        #expect(throws: (any Error).self) { try document(text) }
    }

    @Test func `a row of bulk get has documents and errors, in any order of members`() throws {
        let row = try bulk(
            #"{"docs":[{"ok":{"_id":"a","_rev":"1-a"}},{ "ok" : {"_id":"a","_rev":"1-b"} },{"error":{"id":"a","rev":"undefined","error":"not_found","reason":"missing"}}],"id":"a"}"#
        )
        #expect(row.id == "a" && row.entries.count == 3)
        guard case .failure(nil, "not_found", "missing") = row.entries[2] else {
            Issue.record("the third entry is \(row.entries[2])")
            return
        }
    }

    @Test func `a revision is written without parsing its body`() throws {
        let value = try revision(
            "a\"b", "2-b 1-a", ["x": 1, "y": [1.0]], isDeleted: true,
            [try attachment("s", [1], content: .stub), try attachment("i", Array("hello".utf8), revpos: 2)])
        let bytes = value.wire(.inline).bytes(.bodyLate)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"_id":"a\"b","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"_deleted":true,"x":1,"y":[1.0],"#
                + #""_attachments":{"s":{"content_type":"image/png","revpos":1,"digest":"md5-VaVACK0bpYmqIQ0mKcHfQQ==","length":1,"stub":true},"#
                + #""i":{"content_type":"image/png","revpos":2,"digest":"md5-XUFAKrxLKna5cZ2REBfFkg==","data":"aGVsbG8="}}}"#
        )
        #expect(value.estimatedBytes >= bytes.count)
        let read = try bytes.withUnsafeBufferPointer { try JSONValue(utf8: $0) }
        #expect(read["x"] == 1)
    }

    @Test func `a bulk docs answer lists refused documents`() throws {
        let answer = try BulkDocsAnswer(
            Array(
                #"[{"ok":true,"id":"a","rev":"1-a"},{"id":"b","rev":"1-b","error":"forbidden","reason":"no"},{}]"#.utf8)
        )
        let expected = try rev("1-b")
        #expect(answer.refusals.map(\.id) == ["b"] && answer.refusals.first?.revision == expected)
        #expect(throws: WireFault.self) { try BulkDocsAnswer(Array("{}".utf8)) }
    }
}
