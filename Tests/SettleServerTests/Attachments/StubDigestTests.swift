import Settle
import SettleDatabase
import SettleHTTP
import Testing

@testable import SettleServer

/// Stubs of attachments whose `revpos` says nothing, such as 0.
@Suite struct StubDigestTests {
    private static let one: JSONValue = ["content_type": "image/x", "data": "T05F"]
    private static let two: JSONValue = ["content_type": "image/x", "data": "VFdP"]

    private func revision(_ ids: [String], _ attachments: JSONValue, id: String = "d") -> JSONValue {
        [
            "_id": .string(id), "_rev": .string("\(ids.count)-\(ids[0])"),
            "_revisions": ["start": .number(JSONNumber(ids.count)), "ids": .array(ids.map { .string($0) })],
            "_attachments": attachments,
        ]
    }

    @discardableResult
    private func store(_ documents: [JSONValue], _ client: RouterClient) throws -> Answer {
        try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": .array(documents)])
    }

    /// A client with two revisions whose attachments have other contents and the same `revpos`.
    private func client(revpos: Int?) throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        func attachment(_ json: JSONValue) -> JSONValue {
            var json = json
            json["revpos"] = revpos.map { .number(JSONNumber($0)) }
            return ["c": json]
        }
        try store([revision(["a"], attachment(Self.one))], client)
        try store([revision(["b", "a"], attachment(Self.two))], client)
        return client
    }

    @Test(arguments: [nil, 0, 1]) func `a content that the known ancestor does not have is sent`(revpos: Int?) throws {
        let client = try client(revpos: revpos)
        let query = "?atts_since=%5B%221-a%22%5D"
        let open = try client.send("GET", "/db/d" + query + "&open_revs=%5B%222-b%22%5D&revs=true")
        #expect(open.json[0]?["ok"]?["_attachments"]?["c"]?["data"] == "VFdP")
        #expect(try client.send("GET", "/db/d" + query).json["_attachments"]?["c"]?["data"] == "VFdP")
        let asked: JSONValue = ["docs": [["id": "d", "rev": "2-b", "atts_since": ["1-a"]]]]
        let bulk = try client.send("POST", "/db/_bulk_get?revs=true", asked).json["results"]?[0]?["docs"]?[0]
        #expect(bulk?["ok"]?["_attachments"]?["c"]?["data"] == "VFdP")
        for (method, path, body) in [
            ("GET", "/db/d" + query + "&open_revs=%5B%222-b%22%5D", nil), ("POST", "/db/_bulk_get", asked),
        ] {
            let parts = try client.send(method, path, body, headers: ["Accept": "multipart/mixed"])
            #expect(parts.text.contains(#""follows":true"#) && parts.text.contains("\r\n\r\nTWO\r\n"), "\(path)")
        }
    }

    @Test(arguments: ["md5-ZHVtbXkgZHVtbXkgZHVtbQ==", nil])
    func `a replicated content that is not what its digest says is refused`(digest: String?) throws {
        let client = try RouterClient.withDatabase()
        var attachment: JSONValue = ["follows": true, "length": 3, "content_type": "image/x"]
        attachment["digest"] = digest.map { .string($0) }
        var body = Array("--b\r\nContent-Type: application/json\r\n\r\n".utf8)
        body += revision(["a"], ["c": attachment]).utf8 + Array("\r\n--b\r\n\r\nONE\r\n--b--".utf8)
        let put = try client.send(
            "PUT", "/db/d?new_edits=false", bytes: body, headers: ["Content-Type": "multipart/related; boundary=b"])
        #expect(put.status == (digest == nil ? 201 : 400))
        #expect(digest == nil || put.json["error"] == "content_md5_mismatch")
        #expect(try client.send("GET", "/db/d").status == (digest == nil ? 200 : 404))
    }

    /// PouchDB and Couchbase Lite don't compress texts, and the server does.
    @Test(arguments: ["ONE", "TWO"])
    func `a text with the digest of its plain bytes is taken, as in CouchDB`(content: String) throws {
        let client = try RouterClient.withDatabase()
        let attachment: JSONValue = [
            "follows": true, "length": 3, "content_type": "text/plain", "digest": "md5-vCHmSEUw/J0DE8uBa3Mzlg==",
        ]
        var body = Array("--b\r\nContent-Type: application/json\r\n\r\n".utf8)
        body += revision(["a"], ["c": attachment]).utf8 + Array("\r\n--b\r\n\r\n\(content)\r\n--b--".utf8)
        let put = try client.send(
            "PUT", "/db/d?new_edits=false", bytes: body, headers: ["Content-Type": "multipart/related; boundary=b"])
        #expect(put.status == (content == "ONE" ? 201 : 400), "\(put.text)")
        if content == "ONE" { #expect(try client.send("GET", "/db/d/c").text == "ONE") }
    }

    @Test(arguments: [nil, 1]) func `a content that the known ancestor has is a stub`(revpos: Int?) throws {
        let client = try client(revpos: revpos)
        var same = Self.two
        same["revpos"] = revpos.map { .number(JSONNumber($0)) }
        try store([revision(["c", "b", "a"], ["c": same])], client)
        let answer = try client.send("GET", "/db/d?atts_since=%5B%222-b%22%5D").json["_attachments"]?["c"]
        #expect(answer?["stub"] == true && answer?["data"] == nil)
        // The document never had this ancestor, so its attachments are unknown.
        let other = try client.send("GET", "/db/d?atts_since=%5B%222-x%22%5D").json["_attachments"]?["c"]
        #expect(other?["data"] == "VFdP")
    }

    @Test func `a replicated stub with another digest is refused alone, and its content is taken`() throws {
        let client = try RouterClient.withDatabase()
        try store([revision(["a"], ["c": Self.one])], client)
        let stub: JSONValue = ["stub": true, "revpos": 0, "digest": "md5-AAAAAAAAAAAAAAAAAAAAAA==", "length": 3]
        let wrong = revision(["b", "a"], ["c": stub])
        let put = try client.send("PUT", "/db/d?new_edits=false", wrong)
        #expect(put.status == 412 && put.error == "missing_stub: Invalid attachment stub in d for c")
        let batch = try store([wrong, ["_id": "e", "_rev": "1-e"]], client)
        #expect(batch.status == 201 && batch.json.array?.count == 1)
        #expect(
            batch.json[0]?["id"] == "d" && batch.json[0]?["rev"] == "2-b" && batch.json[0]?["error"] == "missing_stub")
        #expect(try client.send("GET", "/db/e").status == 200)
        #expect(try client.send("GET", "/db/d").json["_rev"] == "1-a")
        #expect(try client.send("PUT", "/db/d?new_edits=false", revision(["b", "a"], ["c": Self.two])).status == 201)
        #expect(try client.send("GET", "/db/d/c").text == "TWO")
    }

    @Test func `a replicated stub with the ancestor's digest, another kind of digest or none is filled`() throws {
        let client = try RouterClient.withDatabase()
        try store([revision(["a"], ["c": Self.one])], client)
        let known = try client.send("GET", "/db/d").json["_attachments"]?["c"]?["digest"] ?? .null
        for (name, digest) in [("b", known), ("x", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="), ("y", nil)] {
            var stub: JSONValue = ["stub": true, "revpos": 0]
            stub["digest"] = digest
            #expect(try store([revision([name, "a"], ["c": stub])], client).json == [])
            #expect(try client.send("GET", "/db/d/c?rev=2-\(name)").text == "ONE")
        }
    }

    @Test func `a stored revision that comes again with an unknown stub is ignored`() throws {
        let client = try RouterClient.withDatabase()
        try store([revision(["a"], ["c": Self.one])], client)
        let again = revision(["a"], ["zz": ["stub": true, "revpos": 1]])
        let batch = try store([again, ["_id": "other", "_rev": "1-b"]], client)
        #expect(batch.status == 201 && batch.json == [])
        #expect(try client.send("GET", "/db/other").status == 200)
        #expect(try client.send("GET", "/db/d/c").text == "ONE")
    }

    @Test func `an edit with an unknown stub is refused alone`() throws {
        let client = try RouterClient.withDatabase()
        let stub: JSONValue = ["_id": "b", "_attachments": ["x": ["stub": true]]]
        let docs: JSONValue = ["docs": [["_id": "_local/a", "v": 1], stub, ["_id": "c"]]]
        let answer = try client.send("POST", "/db/_bulk_docs", docs)
        #expect(answer.status == 201)
        #expect(answer.json.array?.map { $0["error"] ?? .null } == [.null, "missing_stub", .null])
        #expect(try client.send("GET", "/db/_local/a").status == 200)
        #expect(try client.send("GET", "/db/b").status == 404 && client.send("GET", "/db/c").status == 200)
        #expect(try client.send("PUT", "/db/b", stub).error == "missing_stub: Invalid attachment stub in b for x")
    }

    @Test func `an attachment keeps its revpos in an edit of the body, and a new content has the edit's`() throws {
        let client = try RouterClient.withDatabase()
        func edit(_ revision: JSONValue?, _ attachment: JSONValue) throws -> (rev: JSONValue?, revpos: Int?) {
            var document: JSONValue = ["v": 1, "_attachments": ["c": attachment]]
            document["_rev"] = revision
            let answer = try client.send("PUT", "/db/d", document)
            #expect(answer.status == 201, "\(answer.text)")
            let stored = try client.send("GET", "/db/d").json
            return (stored["_rev"], stored["_attachments"]?["c"]?["revpos"]?.int)
        }
        let first = try edit(nil, Self.one)
        let carried = try edit(first.rev, ["stub": true])
        #expect(first.revpos == 1 && carried.revpos == 1)
        // The same content again is a new one, as in CouchDB.
        let again = try edit(carried.rev, Self.one)
        #expect(again.revpos == 3)
        let put = try client.send(
            "PUT", "/db/d/c?rev=\(again.rev?.string ?? "")", bytes: Array("ONE".utf8),
            headers: ["Content-Type": "image/x"])
        #expect(try client.send("GET", "/db/d").json["_attachments"]?["c"]?["revpos"] == 4)
        let carriedAgain = try edit(put.json["rev"], ["stub": true, "revpos": 4])
        #expect(carriedAgain.revpos == 4)
    }

    @Test func `an attachment may have the empty name`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/d", ["_attachments": ["": Self.one]]).status == 201)
        #expect(try client.send("GET", "/db/d?attachments=true").json["_attachments"]?[""]?["data"] == "T05F")
        let all = try client.send(
            "GET", "/db/d?attachments=true&revs=true", headers: ["Accept": "multipart/related"])
        let type = all.headers["Content-Type"] ?? ""
        let copy = try client.send("PUT", "/db/e?new_edits=false", bytes: all.body, headers: ["Content-Type": type])
        let revision = try client.send("GET", "/db/d").json["_rev"]
        #expect(copy.status == 201 && copy.json["rev"] == revision)
        #expect(try client.send("PUT", "/db/f", ["_attachments": ["_a": Self.one]]).status == 400)
    }
}
