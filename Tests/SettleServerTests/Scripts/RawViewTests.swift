import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Views whose keys are in raw order. The expected rows were recorded from CouchDB 3.5.0.
@Suite(.timeLimit(.minutes(5))) struct RawViewTests {
    private static let design: JSONValue = [
        "views": [
            "raw": [
                "map": "function (doc) { emit(doc.v, null) }", "reduce": "_count", "options": ["collation": "raw"],
            ],
            "plain": ["map": "function (doc) { emit(doc.v, null) }"],
            "edge": [
                "map": "function (doc) { emit(doc.v, doc.v) }", "reduce": "_last", "options": ["collation": "raw"],
            ],
        ],
        // CouchDB reads this option in the view only.
        "options": ["collation": "raw"],
    ]

    private static let values =
        #"[null,true,false,0,1,-1,1.5,10,"","a","A","b","B","aa","é","z","ab","10","[",[],[1],["a"],["b"],["a","b"],"#
        + #"[1,2],[null],[[1]],[{}],{},{"a":1},{"a":2},{"b":1},{"a":1,"b":2},{"b":2,"a":1},{"a":"a"},{"a":[1]},"#
        + #"{"aa":1},{"a":null},"ä","😀","\uffff","a\u0000","a\u0000b",100000000000000000000]"#

    private static let rawOrder =
        #"[-1,0,1,1.5,10,100000000000000000000,false,null,true,{},{"a":1},{"a":1,"b":2},{"a":2},{"a":null},{"a":[1]},"#
        + #"{"a":"a"},{"aa":1},{"b":1},{"b":2,"a":1},[],[1],[1,2],[null],[{}],[[1]],["a"],["a","b"],["b"],"","10","A","#
        + #""B","[","a","a\u0000","a\u0000b","aa","ab","b","z","ä","é","\uffff","😀"]"#

    private func client() throws -> RouterClient {
        let client = try RouterClient.withScripts()
        try client.design("d", Self.design)
        let values = try JSONValue(parsing: Self.values).array ?? []
        try client.load(values.enumerated().map { ["_id": .string("d\($0)"), "v": $1] })
        return client
    }

    private func keys(_ client: RouterClient, _ view: String, _ body: JSONValue = [:]) throws -> JSONValue {
        let answer = try client.send("POST", "/db/_design/d/_view/" + view, body)
        #expect(answer.status == 200, "\(answer.json)")
        return .array((answer.json["rows"]?.array ?? []).compactMap { $0["key"] })
    }

    @Test func `keys are in Erlang's order, both ways`() throws {
        let client = try client()
        let expected = try JSONValue(parsing: Self.rawOrder)
        #expect(try keys(client, "raw?reduce=false") == expected)
        #expect(try keys(client, "raw?reduce=false&descending=true") == .array((expected.array ?? []).reversed()))
        #expect(try keys(client, "plain").array?.prefix(3) == [nil, false, true])
        // Each value is a group of its own, except for arrays with the same first element.
        #expect(try keys(client, "raw?group=true") == expected)
        #expect(try keys(client, "raw?group_level=1").array?.count == (expected.array?.count ?? 0) - 2)
        let last = try client.send("GET", "/db/_design/d/_view/edge")
        #expect(last.json["rows"]?[0]?["value"] == "😀")
    }

    @Test func `ranges are bounded in that order`() throws {
        let client = try client()
        let view = "raw?reduce=false"
        #expect(try keys(client, view, ["startkey": "A", "endkey": "a"]) == ["A", "B", "[", "a"])
        #expect(
            try keys(client, view, ["startkey": "a", "endkey": "B", "descending": true]) == ["a", "[", "B"])
        #expect(
            try keys(client, view, ["startkey": nil, "endkey": [:]]) == [nil, true, [:]])
        #expect(
            try keys(client, view, ["startkey": ["b"], "endkey": "10", "inclusive_end": false]) == [["b"], ""])
        #expect(try keys(client, view, ["keys": ["b", "B", 1]]) == ["b", "B", 1])
        #expect(try keys(client, view, ["key": "é"]) == ["é"])
        let refused = try client.send("POST", "/db/_design/d/_view/raw", ["startkey": "a", "endkey": "B"])
        #expect(refused.error.hasPrefix("query_parse_error: No rows can match your key range"))
        #expect(try client.send("POST", "/db/_design/d/_view/plain", ["startkey": "a", "endkey": "B"]).status == 200)
    }

    @Test func `a view that changes its order is sorted again`() throws {
        let client = try client()
        #expect(try keys(client, "plain").array?.first == .null)
        let revision = try client.send("GET", "/db/_design/d").json["_rev"]?.string ?? ""
        var design = Self.design
        var view = design["views"]?["plain"] ?? .null
        view["options"] = ["collation": "raw"]
        design["views"] = ["plain": view]
        #expect(try client.send("PUT", "/db/_design/d?rev=\(revision)", design).status == 201)
        #expect(try keys(client, "plain").array?.first == -1)
    }
}
