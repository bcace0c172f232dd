import Settle
import Testing

@testable import SettleServer

@Suite struct RouterSelectorFeedTests {
    private static let path = "/db/_changes?filter=_selector"

    private func client() throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        let docs: JSONValue = [
            ["_id": "a", "t": "x", "n": 1, "in": ["city": "B", "zip": 7]], ["_id": "b", "t": "y", "n": 2],
            ["_id": "c", "t": "x", "n": 3],
        ]
        #expect(try client.send("POST", "/db/_bulk_docs", ["docs": docs]).status == 201)
        return client
    }

    @Test(arguments: ["normal", "longpoll", "continuous", "eventsource"])
    func `each feed lists the matching changes`(feed: String) throws {
        let answer = try client().send(
            "POST", Self.path + "&timeout=50&feed=\(feed)", ["selector": ["n": ["$gt": 1]]])
        #expect(answer.status == 200)
        #expect(!answer.text.contains("\"id\":\"a\""))
        #expect(answer.text.contains("\"id\":\"b\"") && answer.text.contains("\"id\":\"c\""))
    }

    @Test func `fields reduce documents to the given members`() throws {
        let body: JSONValue = ["selector": ["t": "x"], "fields": ["_id", "in.city", "none", "n.deep"]]
        let rows = try client().send("POST", Self.path + "&include_docs=true", body).json["results"]?.array
        #expect(rows?.map { $0["doc"] } == [["_id": "a", "in": ["city": "B"]], ["_id": "c"]])
    }

    @Test func `an empty list of fields selects all`() throws {
        let body: JSONValue = ["selector": ["_id": "c"], "fields": []]
        let row = try client().send("POST", Self.path + "&include_docs=true", body).json["results"]?[0]
        #expect(row?["doc"]?["t"] == "x" && row?["doc"]?["_rev"] == row?["changes"]?[0]?["rev"])
    }

    @Test func `each leaf is matched separately`() throws {
        let client = try RouterClient.withDatabase()
        let docs: JSONValue = [
            ["_id": "a", "_rev": "1-b", "keep": false], ["_id": "a", "_rev": "1-a", "keep": true],
        ]
        _ = try client.send("POST", "/db/_bulk_docs", ["docs": docs, "new_edits": false])
        let body: JSONValue = ["selector": ["keep": true]]
        #expect(try client.send("POST", Self.path, body).json["results"] == [])
        let rows = try client.send("POST", Self.path + "&style=all_docs", body).json["results"]?.array
        #expect(rows?.map { $0["changes"] } == [[["rev": "1-a"]]])
        let conflicts: JSONValue = ["selector": ["_conflicts": ["$size": 1]]]
        #expect(try client.send("POST", Self.path, conflicts).json["results"] == [])
        #expect(try client.send("POST", Self.path + "&conflicts=true", conflicts).json["results"]?.array?.count == 1)
    }

    @Test func `tombstones are listed on request`() throws {
        let client = try client()
        let revision = try #require(try client.send("GET", "/db/b").json["_rev"]?.string)
        _ = try client.send("DELETE", "/db/b?rev=\(revision)")
        let rows = try client.send("POST", Self.path, ["selector": ["_deleted": true]]).json["results"]?.array
        #expect(rows?.map { $0["id"] } == ["b"])
    }

    @Test(
        arguments: [
            ([:], "Selector error: expected a JSON object"),
            (["selector": 5], "Selector error: expected a JSON object"),
            (["selector": ["a": ["$foo": 1]]], "Invalid operator: $foo"),
            (["selector": [:], "fields": "a"], "Selector error: fields must be JSON array"),
            (["selector": [:], "fields": [7]], "Invalid JSON for field spec: 7"),
            (["selector": [:], "fields": ["a..b"]], "Invalid field name: a..b"),
        ] as [(JSONValue, JSONValue)])
    func `an invalid selector is refused`(body: JSONValue, reason: JSONValue) throws {
        let answer = try client().send("POST", Self.path, body)
        #expect(answer.status == 400 && answer.json["error"] == "bad_request" && answer.json["reason"] == reason)
    }

    @Test func `a selector may be given in a body`() throws {
        #expect(try client().send("GET", Self.path).json["reason"] == "Selector must be specified in POST payload")
    }

    @Test func `heartbeats are sent while a filter passes nothing`() throws {
        let client = try RouterClient.withDatabase()
        let docs = (0..<3000).map { JSONValue.object(["_id": .string("d\($0)"), "n": 1]) }
        _ = try client.send("POST", "/db/_bulk_docs", ["docs": .array(docs)])
        let answer = try client.send("POST", Self.path + "&heartbeat=1", ["selector": ["n": 2]])
        #expect(answer.json["results"] == [] && answer.text.dropFirst(13).hasPrefix("\n"))
    }

    @Test(arguments: [
        ("filter=_view", 400), ("filter=_view&view=f", 400), ("filter=_view&view=f/zz", 404),
        ("filter=_view&view=zz/zz", 404), ("filter=_view&view=f/v", 501), ("filter=f/zz", 404), ("filter=zz/f", 404),
        ("filter=f/f/f", 400), ("filter=f", 400), ("filter=_no", 400), ("filter=f/f", 501), ("filter=/", 200),
    ])
    func `a missing function is distinguished from one that can't run`(query: String, status: Int) throws {
        let client = try client()
        let design: JSONValue = ["filters": ["f": "function(doc, req){}"], "views": ["v": ["map": "function(doc){}"]]]
        #expect(try client.send("PUT", "/db/_design/f", design).status == 201)
        #expect(try client.send("GET", "/db/_changes?\(query)").status == status)
    }

    @Test func `ids that are not text are refused`() throws {
        #expect(try client().send("POST", "/db/_changes?filter=_doc_ids", ["doc_ids": ["a", 1]]).status == 400)
    }
}
