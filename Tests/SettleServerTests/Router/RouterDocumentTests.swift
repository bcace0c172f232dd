import Settle
import SettleHTTP
import Testing

@testable import SettleServer

@Suite struct RouterDocumentTests {
    @Test func `a document is created, read, changed and deleted`() throws {
        let client = try RouterClient.withDatabase()
        let created = try client.send("PUT", "/db/a", ["v": 1])
        #expect(created.status == 201 && created.json["rev"] == "1-7a7e4b29f3af401e69b6f86e4c26b727")
        #expect(created.headers["Location"] == "http://test/db/a")
        #expect(created.headers["ETag"] == "\"1-7a7e4b29f3af401e69b6f86e4c26b727\"")
        #expect(
            try client.send("GET", "/db/a").text
                == "{\"_id\":\"a\",\"_rev\":\"1-7a7e4b29f3af401e69b6f86e4c26b727\",\"v\":1}\n")
        #expect(try client.send("PUT", "/db/a", ["v": 2]).status == 409)
        let changed = try client.send("PUT", "/db/a", ["v": 2, "_rev": "1-7a7e4b29f3af401e69b6f86e4c26b727"])
        let revision = try #require(changed.json["rev"]?.string)
        #expect(try client.send("DELETE", "/db/a?rev=\(revision)").status == 200)
        #expect(try client.send("GET", "/db/a").error == "not_found: deleted")
    }

    @Test func `the redirect to a design document keeps the query`() throws {
        let client = try RouterClient.withDatabase()
        for query in ["?rev=1-a&revs=true", "?open_revs=%5B%221-a%22%5D", ""] {
            let answer = try client.send("GET", "/db/_design%2Fx\(query)")
            #expect(answer.status == 301 && answer.headers["Location"] == "../db/_design/x\(query)")
        }
    }

    @Test func `a revision of a missing document is a conflict`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", ["_rev": "1-abc"]).status == 409)
        #expect(try client.send("DELETE", "/db/a?rev=1-abc").error == "not_found: missing")
    }

    @Test func `a tombstone may be the first revision`() throws {
        let client = try RouterClient.withDatabase()
        let born = try client.send("PUT", "/db/a", ["_deleted": true, "why": "gone"])
        #expect(born.status == 200)
        let revision = try #require(born.json["rev"]?.string)
        #expect(try client.send("GET", "/db/a?rev=\(revision)").json["why"] == "gone")
        #expect(try client.send("GET", "/db").json["doc_del_count"] == 1)
        // It can't be edited, but extended.
        #expect(try client.send("PUT", "/db/a", ["_rev": .string(revision)]).status == 409)
        #expect(try client.send("PUT", "/db/a", ["v": 1]).json["rev"]?.string?.hasPrefix("2-") == true)
    }

    @Test func `a client that has the revision gets 304`() throws {
        let client = try RouterClient.withDatabase()
        let tag = try #require(try client.send("PUT", "/db/a", ["v": 1]).headers["ETag"])
        let answer = try client.send("GET", "/db/a", headers: ["If-None-Match": "\"x\", \(tag)"])
        #expect(answer.status == 304 && answer.body.isEmpty)
        #expect(try client.send("GET", "/db/a", headers: ["If-None-Match": "\"x\""]).status == 200)
    }

    @Test func `the revisions in one request must agree`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/a", ["v": 1])
        #expect(try client.send("PUT", "/db/a?rev=1-a", ["_rev": "1-b"]).status == 400)
        #expect(try client.send("PUT", "/db/a?rev=1-a", [:], headers: ["If-Match": "\"1-b\""]).status == 400)
    }

    @Test func `numbers are printed like CouchDB's`() throws {
        let client = try RouterClient.withDatabase()
        let text = #"{"a":1e3,"b":[1.50,-0,-0.0,1E22,10],"c":"1e3 -0 \"1.0\"","d":{"e":1e-7}}"#
        _ = try client.send("PUT", "/db/a", bytes: Array(text.utf8))
        let answer = try client.send("GET", "/db/a").text
        #expect(answer.contains(#""a":1000.0,"b":[1.5,0,0.0,1e+22,10],"c":"1e3 -0 \"1.0\"","d":{"e":1e-7}}"#))
    }

    @Test func `a batch is written in the order of its ids and answered in its own order`() throws {
        let client = try RouterClient.withDatabase()
        let docs: JSONValue = ["docs": [["_id": "c"], ["_id": "a"], ["_id": "a"], ["_id": "b"]]]
        let answer = try client.send("POST", "/db/_bulk_docs", docs)
        #expect(answer.status == 201)
        #expect(answer.json.array?.map { $0["id"]?.string } == ["c", "a", "a", "b"])
        #expect(answer.json[2]?["error"] == "conflict")
        let changes = try client.send("GET", "/db/_changes").json["results"]?.array ?? []
        #expect(changes.map { $0["id"]?.string } == ["a", "b", "c"])
    }

    @Test func `a refused batch leaves no local document either`() throws {
        let client = try RouterClient.withDatabase()
        let bad: JSONValue = ["_id": "b", "_rev": "1-a", "_attachments": ["x": ["follows": true]]]
        let docs: JSONValue = ["docs": [["_id": "_local/a", "_rev": "0-1"], bad], "new_edits": false]
        #expect(try client.send("POST", "/db/_bulk_docs", docs).status == 400)
        #expect(try client.send("GET", "/db/_local/a").status == 404)
    }
}
