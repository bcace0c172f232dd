import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct RouterAttachmentTests {
    @Test func `an attachment is put, read in parts, and deleted`() throws {
        let client = try RouterClient.withDatabase()
        let put = try client.send("PUT", "/db/a/x/y", bytes: Array(0..<10), headers: ["Content-Type": "image/x"])
        #expect(put.status == 201 && put.headers["Location"] == "http://test/db/a/x%2Fy")
        let all = try client.send("GET", "/db/a/x/y")
        #expect(all.body == Array(0..<10) && all.headers["Content-Type"] == "image/x")
        let part = try client.send("GET", "/db/a/x/y", headers: ["Range": "bytes=2-4"])
        #expect(part.status == 206 && part.body == [2, 3, 4] && part.headers["Content-Range"] == "bytes 2-4/10")
        let parts = try client.send("GET", "/db/a/x/y", headers: ["Range": "bytes=0-1,8-9"])
        #expect(parts.headers["Content-Type"]?.hasPrefix("multipart/byteranges; boundary=") == true)
        let revision = try #require(put.json["rev"]?.string)
        #expect(try client.send("DELETE", "/db/a/x/y?rev=\(revision)").status == 200)
        #expect(try client.send("GET", "/db/a/x/y").error == "not_found: Document is missing attachment")
    }

    @Test func `a document is sent and received with its attachments as multipart`() throws {
        let client = try RouterClient.withDatabase()
        let attachments: JSONValue = [
            "f": ["data": "AAEC", "content_type": "image/x"], "t": ["data": "aGVsbG8=", "content_type": "text/plain"],
        ]
        _ = try client.send("PUT", "/db/a", ["v": 1, "_attachments": attachments])
        let out = try client.send("GET", "/db/a?attachments=true&revs=true", headers: ["Accept": "multipart/related"])
        let type = try #require(out.headers["Content-Type"])
        #expect(type.hasPrefix("multipart/related; boundary="))
        let back = try client.send(
            "PUT", "/db/b?new_edits=false", bytes: out.body, headers: ["Content-Type": type])
        let revision = try client.send("GET", "/db/a").json["_rev"]
        #expect(back.status == 201 && back.json["rev"] == revision)
        #expect(try client.send("GET", "/db/b/f").body == [0, 1, 2])
        #expect(try client.send("GET", "/db/b/t").text == "hello")
    }

    @Test func `many documents are sent as parts where JSONValue is not accepted`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/a", ["_attachments": ["f": ["data": "AAEC"]]])
        _ = try client.send("PUT", "/db/b", [:])
        let docs: JSONValue = ["docs": [["id": "a"], ["id": "b"], ["id": "none"], 5]]
        let answer = try client.send("POST", "/db/_bulk_get", docs, headers: ["Accept": "multipart/mixed"])
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(answer.headers["Content-Type"]?.hasPrefix("multipart/mixed; boundary=") == true)
        #expect(text.contains("X-Doc-Id: a\r\n") && text.contains(#""follows":true"#) && text.contains(#"{"_id":"b""#))
        #expect(text.contains(#"error="true""#) && text.contains(#""reason":"missing""#))
        let json = try client.send("POST", "/db/_bulk_get", docs, headers: ["Accept": "*/*"])
        #expect(json.json["results"]?.array?.count == 4)
        #expect(json.json["results"]?[3]?["docs"]?[0]?["error"]?["reason"] == "document must be a JSON object")
    }

    @Test func `names and types can't break out of a part's header`() throws {
        let client = try RouterClient.withDatabase()
        let attachment: JSONValue = ["data": "AAEC", "content_type": "a\r\nX-Evil: 1"]
        let put = try client.send(
            "PUT", "/db/a", ["_attachments": .object(JSONObject([("f\"\r\nX-Evil: 2", attachment)]))])
        #expect(put.status == 201)
        let out = try client.send("GET", "/db/a?attachments=true", headers: ["Accept": "multipart/related"])
        #expect(!String(decoding: out.body, as: UTF8.self).contains("\r\nX-Evil"))
    }

    /// Two spellings of one accented letter, which are equal in Swift and different in CouchDB.
    @Test func `contents with similar names are not mixed up`() throws {
        let client = try RouterClient.withDatabase()
        let names = ["\u{E9}", "e\u{301}"]
        let members = names.map { ($0, ["follows": true, "length": 1] as JSONValue) }
        let json = JSONValue.object(JSONObject([("_attachments", .object(JSONObject(members)))]))
        var body = Array("--b\r\nContent-Type: application/json\r\n\r\n".utf8) + json.utf8
        for content in ["1", "2"] { body += Array("\r\n--b\r\n\r\n\(content)".utf8) }
        body += Array("\r\n--b--".utf8)
        let put = try client.send(
            "PUT", "/db/a", bytes: body, headers: ["Content-Type": "multipart/related; boundary=b"])
        #expect(put.status == 201)
        #expect(try client.send("COPY", "/db/a", headers: ["Destination": "b"]).status == 201)
        for id in ["a", "b"] {
            #expect(try client.send("GET", "/db/\(id)/%C3%A9").text == "1")
            #expect(try client.send("GET", "/db/\(id)/e%CC%81").text == "2")
        }
    }

    /// A body of two pieces, with an event between them.
    private final class InterruptedBody: RequestBody {
        let declaredLength: Int64? = nil
        private let pieces: Guarded<[[UInt8]]>
        private let between: @Sendable () -> Void

        init(_ pieces: [[UInt8]], between: @escaping @Sendable () -> Void) {
            self.pieces = Guarded(pieces)
            self.between = between
        }

        func read() -> [UInt8]? {
            let (piece, isLast) = pieces.withLock { ($0.popLast(), $0.isEmpty) }
            if isLast, piece != nil { between() }
            return piece
        }
    }

    @Test(arguments: [10, 40_000, 100_000])
    func `an upload into a database that is deleted meanwhile is not found, and leaves nothing`(size: Int) throws {
        let client = try RouterClient.withDatabase()
        let piece = [UInt8](repeating: 7, count: size)
        let body = InterruptedBody([piece, piece]) { try? client.server.state.databases.delete("db") }
        let response = client.server.router.respond(
            to: ServerRequest(
                method: "PUT", target: RequestTarget("/db/a/x"),
                headers: ["Authorization": "Basic YWRtaW46YWRtaW4=", "Content-Type": "image/x"], body: body))
        #expect(response.status == 404)
        #expect(try FileManager.default.contentsOfDirectory(atPath: client.folder.path).isEmpty)
    }
}
