import Settle
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct RouterFindTests {
    private func client() throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        let docs: JSONValue = [
            ["_id": "a", "name": "Ada", "age": 36, "score": 1.0], ["_id": "b", "name": "Bob", "age": 41],
            ["_id": "c", "name": "Cid", "age": 17], ["_id": "d", "name": "dan", "age": "41"],
        ]
        #expect(try client.send("POST", "/db/_bulk_docs", ["docs": docs]).status == 201)
        let index = try client.send("POST", "/db/_index", ["index": ["fields": ["age"]], "ddoc": "i", "name": "age"])
        #expect(index.json == ["result": "created", "id": "_design/i", "name": "age"])
        return client
    }

    private func ids(_ answer: Answer) -> [String] {
        (answer.json["docs"]?.array ?? []).compactMap { $0["_id"]?.string }
    }

    @Test func `documents are found by an index, in its order, as they are stored`() throws {
        let client = try client()
        let found = try client.send("POST", "/db/_find", ["selector": ["age": ["$gt": 17]]])
        #expect(found.status == 200)
        #expect(ids(found) == ["a", "b", "d"])
        let ada = try client.send("GET", "/db/a").json
        #expect(found.json["docs"]?[0] == ada)
        #expect(found.text.contains("\"score\":1.0"))
        #expect(found.json["warning"] == nil)
        let down = try client.send(
            "POST", "/db/_find", ["selector": [:], "sort": [["age": "desc"]], "fields": ["_id"], "limit": 3])
        #expect(down.json["docs"] == [["_id": "d"], ["_id": "b"], ["_id": "a"]])
        #expect(try ids(client.send("POST", "/db/_find/x", ["selector": ["name": "Bob"]])) == ["b"])
    }

    @Test func `the form of a response is CouchDB's`() throws {
        let client = try client()
        let body: JSONValue = ["selector": ["age": 36], "fields": ["_id"], "execution_stats": true]
        let found = try client.send("POST", "/db/_find", body)
        #expect(found.text.hasPrefix("{\"docs\":[\r\n{\"_id\":\"a\"}\r\n],\r\n\"bookmark\": \""))
        let statistics = found.json["execution_stats"]?.object
        #expect(
            statistics?.names == [
                "total_keys_examined", "total_docs_examined", "total_quorum_docs_examined", "results_returned",
                "execution_time_ms",
            ])
        #expect(statistics?["total_keys_examined"] == 1 && statistics?["results_returned"] == 1)
        let none = try client.send("POST", "/db/_find", ["selector": ["$or": []]])
        #expect(none.text == "{\"docs\":[\r\n]}\n")
        let empty = try client.send("POST", "/db/_find", ["selector": ["name": "x"]])
        #expect(empty.json["bookmark"] == "nil")
        #expect(
            empty.json["warning"] == "No matching index found, create an index to optimize query time.")
        let twice = try client.send("POST", "/db/_find", ["selector": ["age": 36], "r": 2, "execution_stats": true])
        #expect(twice.json["execution_stats"]?["total_quorum_docs_examined"] == 1)
        #expect(twice.json["execution_stats"]?["total_docs_examined"] == 0)
    }

    @Test func `bookmarks lead from page to page`() throws {
        let client = try client()
        var bookmark: JSONValue = nil
        var seen: [String] = []
        for _ in 0..<4 {
            let page = try client.send(
                "POST", "/db/_find", ["selector": ["age": ["$gt": nil]], "limit": 2, "bookmark": bookmark])
            seen += ids(page)
            bookmark = try #require(page.json["bookmark"])
        }
        #expect(seen == ["c", "a", "b", "d"])
    }

    @Test func `a long response is sent in pieces and is complete`() throws {
        let client = try RouterClient.withDatabase()
        for start in stride(from: 0, to: 6000, by: 2000) {
            let docs = (start..<start + 2000).map { number -> JSONValue in
                ["_id": .string("d\(10_000 + number)"), "n": .number(JSONNumber(number)), "text": "some text"]
            }
            #expect(try client.send("POST", "/db/_bulk_docs", ["docs": .array(docs)]).status == 201)
        }
        let body: JSONValue = ["selector": ["n": ["$gte": 10]], "limit": 100_000]
        let scanned = try client.send("POST", "/db/_find", body)
        #expect(ids(scanned).count == 5990)
        _ = try client.send("POST", "/db/_index", ["index": ["fields": ["n"]]])
        let indexed = try client.send("POST", "/db/_find", body)
        #expect(ids(indexed) == ids(scanned))
        let rare = try client.send("POST", "/db/_find", ["selector": ["text": "other"]])
        #expect(rare.json["docs"] == [])
        #expect(rare.json["warning"]?.string?.contains("is high in proportion") == true)
    }

    @Test(
        arguments: [
            (
                ["selector": [:], "limit": -1],
                "invalid_non_neg_integer: -1 is not an integer greater than or equal to zero"
            ),
            (["selector": [:], "r": 0], "invalid_pos_integer: 0 is not an integer greater than zero"),
            (["selector": [:], "update": 1], "invalid_boolean: Invalid boolean value: 1"),
            (["selector": [:], "stale": "no"], "invalid_ok_or_false_value: "),
            (["selector": [:], "use_index": 5], "invalid_index_name: Invalid index name: 5"),
            (["selector": [:], "use_index": "a/b/c/d"], "invalid_index_name: "),
            (["selector": [:], "use_index": ["a", 1]], "invalid_index_name: "),
            (["selector": [:], "bookmark": 5], "invalid_bookmark: Invalid bookmark value: 5"),
            (["selector": [:], "sort": [["a": "up"]]], "invalid_sort_field: "),
            (["selector": [:], "sort": ["x"]], "no_usable_index: No index exists for this sort"),
            (["selector": [:], "fields": ["a", ""]], "invalid_field_name: Invalid field name: "),
            (
                ["selector": [:], "partition": "p"],
                "query_parse_error: `partition` parameter is not supported on this db"
            ),
            (["selector": [:], "allow_fallback": false, "use_index": "x"], "invalid_index: _design/x specified by"),
            (["selector": ["$where": ""]], "not_supported: Unsupported operator: $where"),
            ([:], "missing_required_key: "),
            (["selector": [:], "x": 1, "y": 2], "invalid_key: Invalid key x for this request."),
        ] as [(JSONValue, String)])
    func `an error in a query is reported in CouchDB's words`(body: JSONValue, error: String) throws {
        let answer = try client().send("POST", "/db/_find", body)
        #expect(answer.status == 400)
        #expect(answer.error.hasPrefix(error), "\(answer.error)")
    }

    @Test func `an explanation has CouchDB's members`() throws {
        let client = try client()
        let body: JSONValue = [
            "selector": ["age": ["$gte": 1, "$lt": 50]], "sort": [["age": "desc"]], "fields": ["age"], "limit": 5,
            "use_index": ["i", "age"],
        ]
        let told = try client.send("POST", "/db/_explain", body).json
        #expect(
            told["dbname"] == "db" && told["partitioned"] == false && told["limit"] == 5 && told["covering"] == true)
        #expect(
            told["index"] == [
                "ddoc": "_design/i", "name": "age", "type": "json", "partitioned": false,
                "def": ["fields": [["age": "asc"]]],
            ])
        #expect(told["selector"] == ["$and": [["age": ["$gte": 1]], ["age": ["$lt": 50]]]])
        #expect(
            told["mrargs"] == [
                "include_docs": false, "view_type": "map", "reduce": false, "partition": nil,
                "start_key": [50, "<MAX>"], "end_key": [1], "direction": "rev", "stable": false, "update": true,
                "conflicts": "undefined",
            ])
        #expect(
            told["opts"] == [
                "use_index": ["i", "age"], "bookmark": "nil", "limit": 5, "skip": 0, "sort": ["age": "desc"],
                "fields": ["age"], "partition": "", "r": 1, "conflicts": false, "stale": false, "update": true,
                "stable": false, "execution_stats": false, "allow_fallback": true,
            ])
        #expect(
            told["index_candidates"] == [
                [
                    "index": [
                        "ddoc": nil, "name": "_all_docs", "type": "special", "def": ["fields": [["_id": "asc"]]],
                    ],
                    "analysis": [
                        "usable": false, "reasons": [["name": "field_mismatch"]], "ranking": 1, "covering": nil,
                    ],
                ]
            ])
        #expect(told["selector_hints"]?[0]?["indexable_fields"] == ["age"])
        let none = try client.send("POST", "/db/_explain", ["selector": [:], "sort": ["x"]]).json
        #expect(none["index"] == .null && none["mrargs"] == nil)
    }

    @Test func `databases have no partitions`() throws {
        let client = try client()
        for (method, path) in [("POST", "/db/_partition/x/_find"), ("GET", "/db/_partition/x")] {
            let answer = try client.send(method, path, ["selector": [:]])
            #expect(answer.status == 400 && answer.error == "bad_request: database is not partitioned")
        }
    }

    @Test func `a response includes all writes, unless a stale index is allowed`() throws {
        let client = try client()
        let body: JSONValue = ["selector": ["age": 5], "fields": ["_id"]]
        #expect(try ids(client.send("POST", "/db/_find", body)) == [])
        #expect(try client.send("PUT", "/db/e", ["age": 5]).status == 201)
        for name in ["update": false, "stale": "ok"] as JSONObject {
            var old = body
            old[name.name] = name.value
            #expect(try ids(client.send("POST", "/db/_find", old)) == [])
        }
        #expect(try ids(client.send("POST", "/db/_find", body)) == ["e"])
    }
}
