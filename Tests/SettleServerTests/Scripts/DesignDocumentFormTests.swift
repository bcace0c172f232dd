import Settle
import Testing

@testable import SettleServer

/// Which design documents are accepted, and which reduce functions are CouchDB's built-in ones.
@Suite(.timeLimit(.minutes(5))) struct DesignDocumentFormTests {
    private static let map: JSONValue = "function (doc) { emit(null, doc.n) }"

    private static let wrong: [(design: JSONValue, error: String, reason: String)] = [
        (["language": 5], "invalid_design_doc", "`language` field must have string type"),
        (
            ["language": "query", "views": ["v": ["map": "function () {}"]]], "invalid_design_doc",
            "`views.v.map` field must have object type"
        ),
        (["views": ["v": ["map": 5]]], "invalid_design_doc", "`views.v.map` field must have string type"),
        (["language": "query", "views": ["v": [:]]], "invalid_design_doc", "View `v` must contain map function"),
        (["views": ["lib": "x"]], "invalid_design_doc", "`views.lib` field must have object type"),
        (["rewrites": 5], "invalid_design_doc", "`rewrites` field must have array or string type"),
        (
            ["options": ["local_seq": 1]], "invalid_design_doc", "`options.local_seq` field must have boolean type"
        ),
        (
            ["views": ["v": ["map": map, "reduce": "_nope"]]], "invalid_design_doc",
            "`_nope` is not a supported reduce function."
        ),
        (
            ["views": ["v": ["map": map, "reduce": "_top_0"]]], "invalid_design_doc",
            "rank value must be between 1 and 100"
        ),
        (["views": ["v": ["map": map, "reduce": "_top_1\n"]]], "invalid_design_doc", "invalid rank reducer"),
    ]

    @Test(arguments: wrong)
    func `an invalid design document is refused, however it is written`(
        design: JSONValue, error: String, reason: String
    ) throws {
        let client = try RouterClient.withScripts()
        let answer = try client.send("PUT", "/db/_design/d", design)
        #expect(answer.status == 400 && answer.json == ["error": .string(error), "reason": .string(reason)])
        var revision = design
        (revision["_id"], revision["_rev"]) = ("_design/d", "1-a")
        let rows = try client.send(
            "POST", "/db/_bulk_docs", ["new_edits": false, "docs": [revision, ["_id": "a", "_rev": "1-a"]]])
        #expect(
            rows.json == [["id": "_design/d", "rev": "1-a", "error": .string(error), "reason": .string(reason)]])
        #expect(try client.send("PUT", "/db/_design/d?new_edits=false", revision).status == 400)
        #expect(try client.send("GET", "/db/_design/d").status == 404)
        #expect(try client.send("GET", "/db/a").status == 200)
    }

    @Test func `a function that does not compile is refused from a peer too, and a tombstone is not`() throws {
        let client = try RouterClient.withScripts()
        let broken: JSONValue = ["_id": "_design/d", "_rev": "1-a", "views": ["v": ["map": "function ("]]]
        let rows = try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": [broken]])
        #expect(rows.json[0]?["error"] == "compilation_error")
        let gone: JSONValue = ["_id": "_design/d", "_rev": "2-b", "_deleted": true, "language": 5]
        #expect(try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": [gone]]).json == [])
    }

    @Test(arguments: [
        ("_sum", "6"), ("_sum\n", "6"), ("_sum of it", "6"), ("_count\n", "3"), ("_counts", "3"),
        ("_stats foo", #"{"sum":6,"count":3,"min":1,"max":3,"sumsqr":14}"#), ("_approx_count_distinct ", "1"),
        ("_first\n", "1"), ("_last\n", "3"), ("_top_02", "[3,2]"), ("_bottom_+1", "[1]"),
    ])
    func `CouchDB's built-in reduce functions are recognised by their prefix`(name: String, expected: String) throws {
        for isReplicated in [false, true] {
            let client = try RouterClient.withScripts()
            var design: JSONValue = ["views": ["v": ["map": Self.map, "reduce": .string(name)]]]
            if isReplicated { design["_rev"] = "1-a" }
            let answer = try client.send("PUT", "/db/_design/d" + (isReplicated ? "?new_edits=false" : ""), design)
            #expect(answer.status == 201, "\(answer.text)")
            try client.load((1...3).map { ["_id": .string("d\($0)"), "n": .number(JSONNumber($0))] })
            let rows = try client.send("GET", "/db/_design/d/_view/v")
            #expect(rows.json["rows"]?[0]?["value"] == (try JSONValue(utf8: Array(expected.utf8))), "\(rows.text)")
        }
    }

    @Test(arguments: [
        "while (true) emit(1, 2)", "try { while (true) emit(1, 2) } catch (e) {}",
        "var s = new Array(1000).join('x'); while (true) emit(s, {s: s})",
        "var all = []; while (true) all.push(new Array(1000).fill(1.5))",
    ])
    func `an endless map function is an error each time, and none of its rows are kept`(body: String) throws {
        let client = try RouterClient.withScripts(timeLimit: 4000)
        try client.load([["_id": "a"]])
        try client.design("d", ["views": ["v": ["map": .string("function (doc) { \(body) }")]]])
        for _ in 0..<2 {
            let answer = try client.send("GET", "/db/_design/d/_view/v")
            #expect(answer.status == 500 && answer.json["error"] == "os_process_error", "\(answer.text)")
        }
    }
}
