import SettleCore
import Testing

/// CouchDB's JSON of a document: the one reader and the one printer.
struct WireDocumentTests {
    private func read(_ text: String, _ reading: WireDocument.Reading) throws -> WireDocument {
        try WireDocument(DocumentReader.read(Array(text.utf8), allowsReserved: true), reading)
    }

    private func text(_ document: WireDocument, _ order: WireDocument.Order) -> String {
        String(decoding: document.bytes(order), as: UTF8.self)
    }

    private static let request = WireDocument.Reading.request(maximumValues: 1000)
    private static let whole =
        #"{"_id":"a\"b","_rev":"2-b","v":1.0,"_deleted":true,"_revisions":{"start":2,"ids":["b","a"]},"#
        + #""_attachments":{"s":{"content_type":"image/png","revpos":2,"digest":"md5-x","length":5,"stub":true},"#
        + #""d":{"content_type":"text/plain","data":"aGVsbG8="}}}"#

    @Test(arguments: [request, .file, .answer])
    func `a document that is read and printed is the same text`(_ reading: WireDocument.Reading) throws {
        let document = try read(Self.whole, reading)
        #expect(text(document, .bodyEarly) == Self.whole)
        #expect(try text(read(text(document, .bodyLate), reading), .bodyEarly) == Self.whole)
        #expect(document.revision?.id == document.history?.revision && document.isDeleted)
    }

    @Test func `a document without reserved members is its body`() {
        for order in [WireDocument.Order.bodyEarly, .bodyLate] {
            #expect(text(WireDocument(id: nil, body: ["v": 1]), order) == #"{"v":1}"#)
            #expect(text(WireDocument(id: nil, body: .empty), order) == "{}")
            #expect(text(WireDocument(id: "a", body: .empty), order) == #"{"_id":"a"}"#)
            let stub = WireAttachment("s", content: .stub)
            #expect(
                text(WireDocument(id: nil, body: .empty, attachments: [stub]), order)
                    == #"{"_attachments":{"s":{"content_type":"application/octet-stream","stub":true}}}"#)
        }
    }

    @Test func `the revision of a local document counts its writes`() throws {
        let text = #"{"_id":"_local/a","_rev":"0-7","v":1,"_revisions":{"start":0,"ids":["7"]}}"#
        let document = try read(text, Self.request)
        #expect(document.revision == .impossible("0-7") && document.history == nil)
        #expect(self.text(document, .bodyEarly) == text)
    }

    @Test(arguments: [
        (#"{"_id":1}"#, WireDocument.Fault.idIsNoString), (#"{"_id":"_a"}"#, .illegalID("_a")),
        (#"{"_id":""}"#, .illegalID("")), (#"{"_rev":"x"}"#, .invalidRevision("x")),
        (#"{"_rev":1}"#, .invalidRevision(nil)), (#"{"_x":1}"#, .member("_x")),
        (#"{"_deleted":1}"#, .member("_deleted")),
        (#"{"_revisions":[]}"#, .member("_revisions")), (#"{"_attachments":[]}"#, .member("_attachments")),
        (#"{"_revisions":{"ids":["a"]}}"#, .history(.startIsNoInteger)),
        (#"{"_revisions":{"start":1}}"#, .history(.idsAreNoArray)),
        (#"{"_revisions":{"start":1,"ids":[1]}}"#, .history(.idIsNoString)),
        (#"{"_revisions":{"start":1,"ids":["a","b"]}}"#, .history(.tooLong)),
        (#"{"_attachments":{"a":{"data":"%"}}}"#, .attachmentData(name: "a")),
        (#"{"_id":"_a","_x":1}"#, .illegalID("_a")), (#"{"_x":1,"_id":"_a"}"#, .member("_x")),
    ])
    func `the first fault in a request and in a file is thrown`(text: String, fault: WireDocument.Fault) {
        #expect(throws: fault) { try read(text, Self.request) }
        #expect(throws: fault) { try read(text, .file) }
    }

    @Test func `an attachment of a request has a content and sensible numbers`() {
        for (text, fault) in [
            (#"{"_attachments":{"a":{}}}"#, WireDocument.Fault.attachmentData(name: "a")),
            (#"{"_attachments":{"a":{"follows":true,"length":-1}}}"#, .attachmentNumber(name: "a", member: "length")),
            (#"{"_attachments":{"a":{"data":"","revpos":"1"}}}"#, .attachmentNumber(name: "a", member: "revpos")),
        ] {
            #expect(throws: fault) { try read(text, Self.request) }
        }
    }

    @Test func `a stub remembers a revpos that is not a generation`() throws {
        for (value, isWrong) in [("1", false), ("-1", true), ("null", true), ("\"1\"", true)] {
            let read = try read(#"{"_attachments":{"a":{"stub":true,"revpos":\#(value)}}}"#, Self.request)
            #expect(read.attachments[0].hasWrongRevpos == isWrong)
        }
        #expect(try !read(#"{"_attachments":{"a":{"stub":true}}}"#, Self.request).attachments[0].hasWrongRevpos)
    }

    @Test func `white space in the data of a request is ignored`() throws {
        let document = try read(#"{"_attachments":{"a":{"data":"aGVs\r\n bG8="}}}"#, Self.request)
        #expect(document.attachments[0].content == .inline(Array("hello".utf8)))
    }

    @Test func `an unknown member of an answer is passed over`() throws {
        let document = try read(#"{"_id":"_a","_rev":"1-a","_x":1,"_deleted":0,"_attachments":[]}"#, .answer)
        #expect(document.id == "_a" && !document.isDeleted && document.attachments.isEmpty)
        #expect(throws: WireDocument.Fault.self) {
            try read(#"{"_rev":"2-b","_revisions":{"start":2,"ids":["c","a"]}}"#, .answer)
        }
    }

    @Test func `the history of a request counts more than its revision`() throws {
        let document = try read(#"{"_rev":"2-b","_revisions":{"start":2,"ids":["c","a"]}}"#, Self.request)
        #expect(document.revision?.description == "2-c")
    }

    @Test func `a file says where the content of an attachment stands`() throws {
        let text =
            #"{"_id":"a","_attachments":{"f":{"content_type":"t","encoding":"gzip","follows":"ab"},"#
            + #""k":{"content_type":"t","digest":"md5-x","stub":true}}}"#
        let document = try read(text, .file)
        #expect(document.attachments.map(\.content) == [.follows(name: "ab"), .stub])
        #expect(self.text(document, .bodyLate) == text)
    }
}
