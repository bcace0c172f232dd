import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Views of design documents of the language `query`, as CouchDB 3.5.0 answers them.
@Suite(.timeLimit(.minutes(5))) struct QueryViewTests {
    private func client() throws -> RouterClient {
        let client = try RouterClient.withScripts()
        let made: JSONValue = ["index": ["fields": ["a", ["b.c": "asc"]]], "ddoc": "x", "name": "n"]
        #expect(try client.send("POST", "/db/_index", made).status == 200)
        try client.load([
            ["_id": "1", "a": 1, "b": ["c": "x"]], ["_id": "2", "a": 0, "b": ["c": nil]], ["_id": "3", "a": 5],
            ["_id": "4", "a": 1, "b": ["c": "a"]],
        ])
        return client
    }

    @Test func `a query index can be read as a view that counts, with its fields as the key`() throws {
        let client = try client()
        #expect(try client.send("GET", "/db/_design/x/_view/n").json == ["rows": [["key": nil, "value": 3]]])
        let rows = try client.send("GET", "/db/_design/x/_view/n?reduce=false").json
        #expect(
            rows == [
                "total_rows": 3, "offset": 0,
                "rows": [
                    ["id": "2", "key": [0, nil], "value": nil], ["id": "4", "key": [1, "a"], "value": nil],
                    ["id": "1", "key": [1, "x"], "value": nil],
                ],
            ])
        let grouped = try client.send("GET", "/db/_design/x/_view/n?group_level=1").json["rows"]
        #expect(grouped == [["key": [0], "value": 1], ["key": [1], "value": 2]])
        let shown = try client.send("GET", "/db/_design/x/_view/n?reduce=false&limit=1&include_docs=true").json
        #expect(shown["rows"]?[0]?["doc"]?["b"] == ["c": nil])
        #expect(try client.send("GET", "/db/_design/x/_view/no").error == "not_found: missing_named_view")
        #expect(try client.send("PUT", "/db/5", ["a": -1, "b": ["c": 1]]).status == 201)
        #expect(try client.send("GET", "/db/_design/x/_view/n?reduce=false&limit=1").json["rows"]?[0]?["id"] == "5")
    }

    @Test func `the index describes itself`() throws {
        let client = try client()
        #expect(try client.send("GET", "/db/_design/x/_view/n").status == 200)
        let info = try client.send("GET", "/db/_design/x/_info")
        #expect(info.status == 200 && info.json["name"] == "x")
        #expect(info.json["view_index"]?["language"] == "query")
        #expect(info.json["view_index"]?["updates_pending"]?["total"] == 0)
        // A design document with text indexes only has no views, and an empty index.
        let texts: JSONValue = ["language": "query", "indexes": ["i": ["index": [:]]]]
        #expect(try client.send("PUT", "/db/_design/t", texts).status == 201)
        #expect(try client.send("GET", "/db/_design/t/_info").status == 200)
        #expect(try client.send("GET", "/db/_design/t/_view/i").error == "not_found: missing_named_view")
    }

    @Test func `its filter, another reduction and raw order are applied`() throws {
        let client = try client()
        let fields: JSONValue = ["a": "desc"]
        let design: JSONValue = [
            "language": "query",
            "views": [
                "some": [
                    "map": ["fields": fields, "partial_filter_selector": ["a": ["$gt": 0]]], "reduce": "_count",
                ],
                "all": ["map": ["fields": fields]],
                "raw": ["map": ["fields": ["b.c": "asc"]], "options": ["collation": "raw"]],
            ],
        ]
        #expect(try client.send("PUT", "/db/_design/y", design).status == 201)
        #expect(try client.send("GET", "/db/_design/y/_view/some").json["rows"]?[0]?["value"] == 3)
        let all = try client.send("GET", "/db/_design/y/_view/all").json["rows"]?.array ?? []
        #expect(all.map { $0["key"] } == [[0], [1], [1], [5]])
        let raw = try client.send("GET", "/db/_design/y/_view/raw").json["rows"]?.array ?? []
        #expect(raw.map { $0["key"] } == [[nil], ["a"], ["x"]])
    }

    @Test func `an index that a query has updated is up to date, and shared with the view`() throws {
        let client = try client()
        func info() throws -> JSONValue? { try client.send("GET", "/db/_design/x/_info").json["view_index"] }
        #expect(try info()?["updates_pending"]?["total"] == 5)
        let query: JSONValue = ["selector": ["a": ["$gt": 0], "b.c": ["$gt": nil]], "fields": ["_id"]]
        #expect(try client.send("POST", "/db/_find", query).json["docs"]?.array?.count == 2)
        let found = try #require(try info())
        #expect(found["updates_pending"]?["total"] == 0 && found["update_seq"]?.int == 5)
        #expect((found["sizes"]?["file"]?.int ?? 0) > 0)
        // The view reads the existing rows, and updates them.
        #expect(try client.send("GET", "/db/_design/x/_view/n?update=false").json["rows"]?[0]?["value"] == 3)
        #expect(try client.send("PUT", "/db/6", ["a": 7, "b": ["c": 1]]).status == 201)
        #expect(try info()?["updates_pending"]?["total"] == 1)
        #expect(try client.send("GET", "/db/_design/x/_view/n").json["rows"]?[0]?["value"] == 4)
        #expect(try info()?["updates_pending"]?["total"] == 0)
        // Of two indexes the outdated one determines the answer.
        let other: JSONValue = ["index": ["fields": ["a"]], "ddoc": "x", "name": "m"]
        #expect(try client.send("POST", "/db/_index", other).status == 200)
        #expect(try client.send("POST", "/db/_find", query).status == 200)
        #expect(try info()?["updates_pending"]?["total"] == 6)
        #expect(try client.send("GET", "/db/_design/x/_view/m").status == 200)
        #expect(try info()?["updates_pending"]?["total"] == 0)
        #expect(try client.send("POST", "/db/_view_cleanup", [:]).status == 202)
        #expect(try info()?["updates_pending"]?["total"] == 0)
    }

    @Test func `many rows are counted by the counts of their chunks`() throws {
        let client = try RouterClient.withScripts()
        let made: JSONValue = ["index": ["fields": ["g", "n"]], "ddoc": "x", "name": "n"]
        #expect(try client.send("POST", "/db/_index", made).status == 200)
        try client.load((0..<3000).map { ["_id": .string("\($0)"), "g": .number(JSONNumber($0 % 3)), "n": "text"] })
        let query: JSONValue = ["selector": ["g": 1, "n": ["$gt": nil]], "limit": 1]
        #expect(try client.send("POST", "/db/_find", query).status == 200)
        let grouped = try client.send("GET", "/db/_design/x/_view/n?group_level=1&update=false").json["rows"]
        #expect(
            grouped == [["key": [0], "value": 1000], ["key": [1], "value": 1000], ["key": [2], "value": 1000]])
        #expect(try client.send("GET", "/db/_design/x/_view/n").json["rows"]?[0]?["value"] == 3000)
    }

    @Test func `a design document of an unknown language has an empty index`() throws {
        let client = try RouterClient.withScripts()
        let map = "fun({Doc}) -> Emit(proplists:get_value(<<\"n\">>, Doc, null), null) end."
        let design: JSONValue = ["language": "erlang", "views": ["n": ["map": .string(map)]]]
        #expect(try client.send("PUT", "/db/_design/e", design).status == 201)
        let info = try client.send("GET", "/db/_design/e/_info")
        #expect(info.status == 200 && info.json["view_index"]?["language"] == "erlang")
        #expect(info.json["view_index"]?["updates_pending"]?["total"] == 1)
        #expect(info.json["view_index"]?["update_seq"] == 0)
        #expect(try client.send("GET", "/db/_design/e/_view/n").error == "unknown_query_language: erlang")
    }
}
