import Settle
import Testing

@testable import SettleServer

/// The parameters of a view, in the query and in the body.
@Suite(.timeLimit(.minutes(5))) struct ViewRequestTests {
    private func client(_ views: JSONValue, _ documents: [JSONValue]) throws -> RouterClient {
        let client = try RouterClient.withScripts()
        try client.design("d", ["views": views])
        try client.load(documents)
        return client
    }

    private func ids(_ answer: Answer) -> [String] {
        (answer.json["rows"]?.array ?? []).compactMap { $0["id"]?.string }
    }

    private static let numbered: [JSONValue] = ["a", "b", "c", "d"].map { ["_id": .string($0), "n": 1] }
    private static let byNumber: JSONValue = ["n": ["map": "function (doc) { emit(doc.n, null) }", "reduce": "_count"]]

    @Test func `a parameter of the query overrides the one of the body`() throws {
        let client = try client(Self.byNumber, Self.numbered)
        let path = "/db/_design/d/_view/n"
        let body: JSONValue = ["reduce": true, "limit": 4, "skip": 0, "descending": false]
        let answer = try client.send("POST", path + "?reduce=false&limit=2&skip=1&descending=true", body)
        #expect(ids(answer) == ["c", "b"])
        let both = try client.send("POST", path + "?reduce=false&key=2", ["key": 1])
        #expect(both.status == 200 && ids(both) == [])
        // A list of one key is a range, so another end in the query overrides it.
        #expect(ids(try client.send("POST", path + "?reduce=false&endkey=3", ["keys": [1]])).count == 4)
        #expect(ids(try client.send("POST", path + "?reduce=false&endkey=3", ["keys": [1, 2]])) == [])
        let refused = try client.send("POST", path + "?reduce=false&endkey=3", ["keys": [1, 2]])
        #expect(refused.error.hasPrefix("query_parse_error: `keys` is incompatible"))
    }

    @Test func `each of several queries has its own keys`() throws {
        let client = try client(Self.byNumber, Self.numbered)
        let path = "/db/_design/d/_view/n/queries?reduce=false&limit=1&keys=[5,6]"
        let answer = try client.send("POST", path, ["queries": [["skip": 1], ["keys": [1, 2], "limit": 2]]])
        #expect(answer.json["results"]?[0]?["rows"]?[0]?["id"] == "b", "\(answer.json)")
        #expect(answer.json["results"]?[1]?["rows"]?.array?.count == 2)
    }

    @Test func `a range with keys selects among the documents of each key`() throws {
        let documents: [JSONValue] = ["a", "b", "c"].flatMap { id -> [JSONValue] in
            [["_id": .string(id + "1"), "n": 1], ["_id": .string(id + "2"), "n": 2]]
        }
        let client = try client(Self.byNumber, documents)
        let path = "/db/_design/d/_view/n?reduce=false"
        let keys: JSONValue = ["keys": [2, 1]]
        #expect(ids(try client.send("POST", path + "&startkey_docid=b", keys)) == ["b2", "c2", "b1", "c1"])
        #expect(ids(try client.send("POST", path + "&endkey_docid=b2", keys)) == ["a2", "b2", "a1", "b1"])
        #expect(
            ids(try client.send("POST", path + "&startkey_docid=b2&endkey_docid=a2&descending=true", keys))
                == ["b1", "b2", "a2"])
        #expect(ids(try client.send("POST", path + "&inclusive_end=false", keys)) == [])
        let reduced = try client.send("POST", "/db/_design/d/_view/n?group=true&startkey_docid=b", keys)
        #expect(reduced.json["rows"] == [["key": 2, "value": 2], ["key": 1, "value": 2]])
    }

    @Test func `a value that names a revision includes that revision of the emitted document`() throws {
        let client = try client(
            [
                "old": ["map": "function (doc) { if (doc.old) emit(null, {_rev: doc.old}) }"],
                "null": ["map": "function (doc) { if (doc.old) emit(null, {_id: null, _rev: doc.old}) }"],
            ], [])
        let first = try client.send("PUT", "/db/a", ["v": 1]).json["rev"] ?? .null
        #expect(try client.send("PUT", "/db/a", ["_rev": first, "v": 2, "old": first]).status == 201)
        #expect(try client.send("PUT", "/db/gone", ["old": "1-0123456789abcdef0123456789abcdef"]).status == 201)
        let rows = try client.send("GET", "/db/_design/d/_view/old?include_docs=true").json["rows"]
        #expect(rows?[0]?["doc"] == ["_id": "a", "_rev": first, "v": 1])
        #expect(rows?[1]?["id"] == "gone" && rows?[1]?["doc"] == .null)
        let none = try client.send("GET", "/db/_design/d/_view/null?include_docs=true").json["rows"]
        #expect(none?[0]?["doc"] == .null)
    }

    @Test func `a reduction that does not shrink is an error in its row`() throws {
        let client = try client(
            [
                "big": [
                    "map": "function (doc) { emit(doc.n, 1) }",
                    "reduce": "function () { return new Array(4000).join('x') + new Array(4000).join('y') }",
                ]
            ], Self.numbered)
        for query in ["", "?group=true"] {
            let answer = try client.send("GET", "/db/_design/d/_view/big" + query)
            let row = answer.json["rows"]?[0]
            #expect(answer.status == 200 && row?["error"] == "reduce_overflow_error", "\(answer.json)")
            #expect(row?["reason"]?.string?.hasPrefix("Reduce output must shrink more rapidly") == true)
            #expect(row?["key"] == .null && row?["value"] == nil)
        }
    }

    @Test(arguments: [
        ("_top_0", "rank value must be between 1 and 100"), ("_bottom_101", "rank value must be between 1 and 100"),
        ("_top_-3", "rank value must be between 1 and 100"),
        ("_top_99999999999999999999", "rank value must be between 1 and 100"), ("_top_x", "invalid rank reducer"),
        ("_bottom_", "invalid rank reducer"), ("_top", "`_top` is not a supported reduce function."),
    ])
    func `an impossible rank is refused with its reason`(name: String, reason: String) throws {
        let client = try RouterClient.withScripts()
        let views: JSONValue = ["v": ["map": "function (doc) { emit(1, 1) }", "reduce": .string(name)]]
        let answer = try client.send("PUT", "/db/_design/d", ["views": views])
        #expect(answer.status == 400 && answer.error == "invalid_design_doc: " + reason)
    }

    @Test(arguments: [("_top_100", "[3,2,1]"), ("_bottom_+2", "[1,2]"), ("_sum_of_all", "6"), ("_counts", "3")])
    func `a built-in reduce function is recognised by its prefix`(name: String, text: String) throws {
        let value = try JSONValue(parsing: text)
        let client = try client(
            ["v": ["map": "function (doc) { emit(null, doc.n) }", "reduce": .string(name)]],
            [["n": 1], ["n": 2], ["n": 3]])
        #expect(try client.send("GET", "/db/_design/d/_view/v").json["rows"]?[0]?["value"] == value)
    }

    @Test func `rows of one document with one key are sorted by value, in either direction`() throws {
        let values: JSONValue = ["B", "a", [1], true, ["x": 1], nil, 2, false, "", -1, [0, 5], [:], 1.5, 2]
        let sorted: JSONValue = [-1, 1.5, 2, 2, false, nil, true, [:], ["x": 1], [0, 5], [1], "", "B", "a"]
        let views: JSONValue = ["v": ["map": "function (doc) { doc.v.forEach(function (v) { emit(doc.k, v) }) }"]]
        let client = try client(views, [["_id": "a", "k": 1, "v": values], ["_id": "b", "k": 1, "v": [3, 1]]])
        func rows(_ query: String) throws -> [JSONValue] {
            (try client.send("GET", "/db/_design/d/_view/v" + query).json["rows"]?.array ?? [])
                .compactMap { $0["value"] }
        }
        let expected = (sorted.array ?? []) + [1, 3]
        #expect(try rows("") == expected)
        #expect(try rows("?descending=true") == [1, 3] + (sorted.array ?? []))
        #expect(try rows("?descending=true&skip=3&limit=4") == [1.5, 2, 2, false])
        #expect(try rows("?skip=2&limit=3") == [2, 2, false])
    }
}
