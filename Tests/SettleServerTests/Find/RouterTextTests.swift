import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Full-text search indexes over HTTP.
@Suite struct RouterTextTests {
    private let made: JSONValue = [
        "index": ["fields": [["name": "title", "type": "string"]], "default_field": ["analyzer": "english"]],
        "type": "text", "ddoc": "t", "name": "n",
    ]

    private func client() throws -> RouterClient {
        let client = try RouterClient { $0.makesTextIndexes = true }
        #expect(try client.send("PUT", "/db").status == 201)
        for (id, title, year) in [("a", "red cats", 3), ("b", "blue cat, a longer text", 1), ("c", "dogs", 2)] {
            let body: JSONValue = ["title": .string(title), "year": .number(JSONNumber(year))]
            #expect(try client.send("PUT", "/db/\(id)", body).status == 201)
        }
        return client
    }

    @Test func `a text index is created in CouchDB's form, listed and removed`() throws {
        let client = try client()
        #expect(
            try client.send("POST", "/db/_index", made).json == ["result": "created", "id": "_design/t", "name": "n"])
        #expect(try client.send("POST", "/db/_index", made).json["result"] == "exists")
        let index = try client.send("GET", "/db/_design/t").json["indexes"]?["n"]
        #expect(
            index == [
                "index": [
                    "default_analyzer": "keyword", "default_field": ["analyzer": "english"],
                    "partial_filter_selector": [:], "selector": [:], "fields": [["name": "title", "type": "string"]],
                    "index_array_lengths": true,
                ],
                "analyzer": ["name": "perfield", "default": "keyword", "fields": ["$default": "english"]],
            ])
        let listed = try client.send("GET", "/db/_index").json["indexes"]?[1]
        #expect(
            listed == [
                "ddoc": "_design/t", "name": "n", "type": "text", "partitioned": false,
                "def": [
                    "default_analyzer": "keyword", "default_field": ["analyzer": "english"], "selector": [:],
                    "fields": [["title": "string"]], "index_array_lengths": true,
                ],
            ])
        #expect(try client.send("DELETE", "/db/_index/t/json/n").status == 404)
        #expect(try client.send("DELETE", "/db/_index/t/text/n").json == ["ok": true])
        #expect(try client.send("GET", "/db/_design/t").error == "not_found: deleted")
        #expect(try client.send("POST", "/db/_index", ["index": [:], "type": "text", "ddoc": "u"]).status == 200)
        let all = try client.send("GET", "/db/_index").json["indexes"]?[1]?["def"]
        #expect(all?["fields"] == [] && all?["partial_filter_selector"] == nil)
        let answer = try client.send("POST", "/db/_index/_bulk_delete", ["docids": ["u"]])
        #expect(answer.json["success"] == [["id": "_design/u", "ok": true]])
    }

    @Test func `a text index without fields is refused, and one of a design document is not found`() throws {
        let client = try client()
        let index: JSONValue = [
            "index": ["default_field": ["enabled": false]], "type": "text", "ddoc": "t", "name": "n",
        ]
        let answer = try client.send("POST", "/db/_index", index)
        #expect(answer.status == 400 && answer.error.hasPrefix("invalid_index: "))
        #expect(answer.error.contains("without `default_field` there must be `fields` of type string"))
        let design: JSONValue = [
            "language": "query", "indexes": ["n": ["index": ["default_field": ["enabled": false]]]],
        ]
        #expect(try client.send("PUT", "/db/_design/t", design).status == 201)
        #expect(try client.send("GET", "/db/_index").json["total_rows"] == 1)
        #expect(try client.send("POST", "/db/_find", ["selector": ["$text": "cat"]]).status == 400)
    }

    @Test func `full-text search finds words, with bookmarks, an order and execution statistics`() throws {
        let client = try client()
        #expect(try client.send("POST", "/db/_index", made).status == 200)
        var body: JSONValue = ["selector": ["$text": "cat"], "fields": ["_id"], "limit": 1, "execution_stats": true]
        let first = try client.send("POST", "/db/_find", body)
        #expect(first.json["docs"] == [["_id": "a"]] && first.json["execution_stats"]?["results_returned"] == 1)
        body["bookmark"] = first.json["bookmark"]
        let second = try client.send("POST", "/db/_find", body)
        #expect(second.json["docs"] == [["_id": "b"]])
        body["bookmark"] = second.json["bookmark"]
        let third = try client.send("POST", "/db/_find", body)
        #expect(third.json["docs"] == [] && third.json["bookmark"] == second.json["bookmark"])
        let sorted: JSONValue = [
            "selector": ["$text": "cat OR dog", "year": ["$lt": 3]], "sort": [["year:number": "desc"]],
            "fields": ["_id"], "use_index": "t", "skip": 1,
        ]
        #expect(try client.send("POST", "/db/_find", sorted).json["docs"] == [["_id": "b"]])
        let told = try client.send("POST", "/db/_explain", sorted).json
        #expect(told["index"]?["type"] == "text" && told["query"] == "cat OR dog" && told["sort"] == ["-year:number"])
        #expect(told["mrargs"] == nil)
        #expect(try client.send("POST", "/db/_explain", ["selector": ["$text": "x"]]).json["sort"] == "relevance")
    }

    @Test(
        arguments: [
            (
                [:], "german", 400,
                "invalid_index: invalid text index: there is no analyzer german; those there are: classic"
            ),
            (["fields": 5], "english", 400, "invalid_index_fields_definition: Text Index field definitions must"),
            (["fields": [["name": "", "type": "string"]]], "english", 400, "invalid_index_fields_definition: "),
            (["fields": [["name": "a", "type": "text"]]], "english", 400, "invalid_index_fields_definition: "),
            (["other": 1], "english", 400, "invalid_key: Invalid key other"),
            (["partial_filter_selector": ["$text": "x"]], "english", 400, "not_supported: "),
        ] as [(JSONValue, String, Int, String)])
    func `an invalid text index is refused`(
        index: JSONValue, analyzer: String, status: Int, error: String
    ) throws {
        var index = index
        index["default_field"] = ["analyzer": .string(analyzer)]
        let answer = try client().send("POST", "/db/_index", ["type": "text", "index": index])
        #expect(answer.status == status && answer.error.hasPrefix(error), "\(answer.error)")
    }

    @Test func `a server that creates no text indexes searches those in design documents`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("POST", "/db/_index", made).error == "required index service unavailable: text")
        #expect(try client.send("PUT", "/db/a", ["title": "red cat"]).status == 201)
        let refused = try client.send("POST", "/db/_find", ["selector": ["$text": "cat"]])
        #expect(refused.status == 400 && refused.error.hasPrefix("no_usable_index: No text index exists"))
        let design: JSONValue = ["language": "query", "indexes": ["n": ["index": ["default_field": [:]]]]]
        #expect(try client.send("PUT", "/db/_design/x", design).status == 201)
        let found = try client.send("POST", "/db/_find", ["selector": ["$text": "cat"]])
        #expect(found.json["docs"]?[0]?["_id"] == "a")
        #expect(
            try client.send("POST", "/db/_find", ["selector": ["$text": "\"cat"]]).error.hasPrefix(
                "text_search_error: "))
        let feed = try client.send("POST", "/db/_changes?filter=_selector", ["selector": ["$text": "cat"]])
        #expect(feed.status == 400)
    }
}
