import Foundation
import Settle
import SettleDatabase
import Testing

@testable import SettleServer

/// Attachments in JSON, small and large, plain and compressed.
@Suite struct StreamedAttachmentTests {
    private static let contents: [(name: String, type: String, bytes: [UInt8])] = [
        ("empty", "image/x", []), ("small", "image/x", [1, 2]), ("text", "text/plain", Array("hello".utf8)),
        ("large", "image/x", (0..<200_001).map { UInt8(truncatingIfNeeded: $0 &* 31) }),
        ("zeros", "text/plain", Array(repeating: 0, count: 3_000_001)),
    ]

    private func client() throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        let database = try client.server.state.databases.open("db")
        var document = Document(id: "a", body: ["n": 1])
        for content in Self.contents {
            document.attach(
                try database.makeAttachment(content.name, contentType: content.type, content: content.bytes))
        }
        try database.save(document, onConflict: .fail)
        try database.save(Document(id: "b"), onConflict: .fail)
        return client
    }

    private func expectAll(_ document: JSONValue?, _ source: String) {
        for content in Self.contents {
            let data = document?["_attachments"]?[content.name]?["data"]?.string
            #expect(data == Data(content.bytes).base64EncodedString(), "\(content.name) of \(source)")
        }
    }

    @Test func `attachments are complete in every kind of answer with documents`() throws {
        let client = try client()
        expectAll(try client.send("GET", "/db/a?attachments=true").json, "the document")
        let leaves = try client.send("GET", "/db/a?open_revs=all&attachments=true")
        expectAll(leaves.json[0]?["ok"], "its leaves")
        let rows = try client.send("GET", "/db/_all_docs?include_docs=true&attachments=true").json["rows"]
        expectAll(rows?[0]?["doc"], "the list")
        #expect(rows?[1]?["doc"]?["_id"] == "b")
        let changes = try client.send("GET", "/db/_changes?include_docs=true&attachments=true").json["results"]
        expectAll(changes?[0]?["doc"], "the feed")
        let got = try client.send("POST", "/db/_bulk_get?attachments=true", ["docs": [["id": "a"], ["id": "b"]]])
        expectAll(got.json["results"]?[0]?["docs"]?[0]?["ok"], "many")
        #expect(got.json["results"]?[1]?["docs"]?[0]?["ok"]?["_id"] == "b")
    }

    @Test func `a view with documents has the attachments too`() throws {
        let client = try RouterClient.withScripts()
        let large = Data(Self.contents[3].bytes).base64EncodedString()
        try client.load([["_id": "a", "_attachments": ["f": ["data": .string(large), "content_type": "image/x"]]]])
        try client.design("d", ["views": ["v": ["map": "function(doc) { emit(1, 2) }"]]])
        let rows = try client.send("GET", "/db/_design/d/_view/v?include_docs=true&attachments=true").json["rows"]
        #expect(rows?[0]?["doc"]?["_attachments"]?["f"]?["data"] == .string(large))
    }

    @Test func `an attachment without content is a stub in a list, and an error when requested alone`() throws {
        let client = try client()
        let database = try client.server.state.databases.open("db")
        try FileManager.default.removeItem(atPath: #require(database.path) + "/attachments")
        #expect(try client.send("GET", "/db/a?attachments=true").status >= 400)
        let rows = try client.send("GET", "/db/_all_docs?include_docs=true&attachments=true").json["rows"]
        #expect(rows?[0]?["doc"]?["_attachments"]?["large"]?["stub"] == true)
        #expect(rows?[0]?["doc"]?["_attachments"]?["small"]?["data"] == "AQI=")
        #expect(rows?[1]?["doc"]?["_id"] == "b")
        let got = try client.send("POST", "/db/_bulk_get?attachments=true", ["docs": [["id": "a"], ["id": "b"]]])
        #expect(got.json["results"]?[0]?["docs"]?[0]?["error"] != nil, "\(got.text.prefix(500))")
        #expect(got.json["results"]?[1]?["docs"]?[0]?["ok"]?["_id"] == "b")
    }

    @Test func `the sizes show what a compaction would free`() throws {
        let client = try client()
        func sizes() throws -> (file: Int, active: Int, external: Int) {
            let sizes = try client.send("GET", "/db").json["sizes"]
            return (sizes?["file"]?.int ?? 0, sizes?["active"]?.int ?? 0, sizes?["external"]?.int ?? 0)
        }
        let text = JSONValue.string(String(repeating: "x", count: 100_000))
        var revision = try client.send("GET", "/db/b").json["_rev"] ?? .null
        let before = try sizes()
        for number in 0..<20 {
            let members: JSONValue = ["_rev": revision, "n": .number(JSONNumber(number)), "text": text]
            revision = try client.send("PUT", "/db/b", members).json["rev"] ?? .null
        }
        let full = try sizes()
        #expect(full.file > full.active + 1_500_000, "\(full)")
        #expect((90_000..<300_000).contains(full.external - before.external), "\(before) \(full)")
        try client.server.state.databases.open("db").compact()
        let after = try sizes()
        #expect(after.file < full.file - 1_500_000 && after.active <= after.file, "\(after)")
        #expect(after.external == full.external)
    }

    @Test func `a body too large for memory is refused with an alternative`() throws {
        let client = try RouterClient { $0.largestBody = 100 }
        _ = try client.send("PUT", "/db")
        let data = JSONValue.string(String(repeating: "A", count: 200))
        let answer = try client.send("POST", "/db/_bulk_docs", ["docs": [["_attachments": ["f": ["data": data]]]]])
        #expect(answer.status == 413 && answer.error.hasPrefix("too_large: the request entity is too large"))
        #expect(answer.text.contains("multipart/related") && answer.text.contains("body_size"))
    }
}
