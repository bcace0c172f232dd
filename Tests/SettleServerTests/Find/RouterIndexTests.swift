import Settle
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct RouterIndexTests {
    private let made: JSONValue = ["index": ["fields": ["a"]], "ddoc": "i", "name": "n"]

    @Test func `a client that may not write design documents can't create or remove indexes`() throws {
        let client = try RouterClient.with(users: ["mia": [], "dora": []])
        let security: JSONValue = ["admins": ["names": ["dora"]], "members": ["names": ["mia"]]]
        #expect(try client.send("PUT", "/db/_security", security).status == 200)
        let refused = try client.send(as: "mia:pw", "POST", "/db/_index", made)
        #expect(refused.status == 403 && refused.error == "forbidden: You are not a db or server admin.")
        #expect(try client.send(as: "dora:pw", "POST", "/db/_index", made).json["result"] == "created")
        // An existing index needs no write access.
        #expect(try client.send(as: "mia:pw", "POST", "/db/_index", made).json["result"] == "exists")
        #expect(try client.send(as: "mia:pw", "DELETE", "/db/_index/i/json/n").status == 403)
        #expect(try client.send(as: "mia:pw", "POST", "/db/_index/_bulk_delete", ["docids": ["i"]]).status == 403)
        #expect(try client.send(as: "mia:pw", "GET", "/db/_index").json["total_rows"] == 2)
        #expect(try client.send(as: "mia:pw", "POST", "/db/_find", ["selector": ["a": 1]]).status == 200)
        #expect(try client.send(as: "", "POST", "/db/_find", ["selector": ["a": 1]]).status == 401)
        #expect(try client.send(as: "dora:pw", "DELETE", "/db/_index/i/json/n").json == ["ok": true])
        #expect(try client.send("GET", "/db/_design/i").status == 404)
    }

    @Test func `the index that a request names is removed, and none whose name looks the same`() throws {
        let client = try RouterClient.withDatabase()
        // The same letter as two characters, and as one.
        for (name, field) in [("e\u{301}", "a"), ("\u{E9}", "b")] {
            let index: JSONValue = ["index": ["fields": [.string(field)]], "ddoc": "i", "name": .string(name)]
            #expect(try client.send("POST", "/db/_index", index).json["result"] == "created")
        }
        #expect(try client.send("DELETE", "/db/_index/i/json/%C3%A9").status == 200)
        let views = try client.send("GET", "/db/_design/i").json["views"]
        #expect(views?["e\u{301}"] != nil && views?["\u{E9}"] == nil)
    }

    @Test func `other members of an index's design document are kept`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("POST", "/db/_index", made).status == 200)
        let revision = try #require(try client.send("GET", "/db/_design/i").json["_rev"]?.string)
        #expect(try client.send("PUT", "/db/_design/i/file?rev=\(revision)", bytes: [1, 2, 3]).status == 201)
        let other: JSONValue = ["index": ["fields": ["b"]], "ddoc": "i", "name": "m"]
        #expect(try client.send("POST", "/db/_index", other).json["result"] == "created")
        #expect(try client.send("GET", "/db/_design/i/file").body == [1, 2, 3])
        #expect(try client.send("DELETE", "/db/_index/i/json/n").status == 200)
        #expect(try client.send("GET", "/db/_design/i").json["views"]?.object?.names == ["m"])
        #expect(try client.send("GET", "/db/_design/i/file").body == [1, 2, 3])
        #expect(try client.send("DELETE", "/db/_index/i/json/m").status == 200)
        #expect(try client.send("GET", "/db/_design/i").error == "not_found: deleted")
        #expect(try client.send("POST", "/db/_index", made).json["result"] == "created")
    }

    @Test func `an index in a replicated design document is used at once`() throws {
        let client = try RouterClient.withDatabase()
        let body: JSONValue = [
            "language": "query",
            "views": [
                "n": [
                    "map": ["fields": ["a": "asc"], "partial_filter_selector": [:]], "reduce": "_count",
                    "options": ["def": ["fields": ["a"]]],
                ],
                "no": ["map": ["fields": ["a"]], "options": [:]],
            ],
        ]
        #expect(try client.send("PUT", "/db/_design/x", body).status == 201)
        #expect(try client.send("GET", "/db/_index").json["total_rows"] == 2)
        let told = try client.send("POST", "/db/_explain", ["selector": ["a": 1]])
        #expect(told.json["index"]?["name"] == "n")
    }

    @Test(
        arguments: [
            (["index": ["fields": ["a"]], "type": "text"], 503, "required index service unavailable: text"),
            (["index": ["fields": ["a"]], "name": ""], 400, "invalid_empty_string: "),
            (["index": ["fields": ["a"]], "ddoc": ""], 400, "invalid_empty_string: "),
            (["index": ["fields": ["a"]], "w": 0], 400, "invalid_pos_integer: "),
            (["index": ["fields": ["a"]], "partitioned": 5], 400, "invalid_boolean: "),
            (["index": ["fields": ["a"]], "partitioned": true], 400, "invalid_design_doc: "),
            (["index": ["fields": [""]]], 400, "invalid_sort_field: "),
            (["index": ["fields": [["a": "asc"], ["b": "desc"]]]], 400, "unsupported_mixed_sort: "),
        ] as [(JSONValue, Int, String)])
    func `an invalid index is refused`(body: JSONValue, status: Int, error: String) throws {
        let answer = try RouterClient.withDatabase().send("POST", "/db/_index", body)
        #expect(answer.status == status)
        #expect(answer.error.hasPrefix(error), "\(answer.error)")
    }

    @Test func `lists of indexes have limit and skip`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("POST", "/db/_index", made).status == 200)
        let rest = try client.send("GET", "/db/_index?skip=1").json
        #expect(rest["total_rows"] == 2 && rest["indexes"]?.array?.count == 1)
        #expect(try client.send("GET", "/db/_index?skip=9").json["indexes"] == [])
        for query in ["limit=0", "limit=x", "skip=-1"] {
            let answer = try client.send("GET", "/db/_index?\(query)")
            #expect(answer.error == "invalid_list_index_params: Index parameter ranges: limit > 1, skip > 0")
        }
    }

    @Test func `several design documents are removed at once, with all their indexes`() throws {
        let client = try RouterClient.withDatabase()
        for name in ["n", "m"] {
            let body: JSONValue = ["index": ["fields": ["a"]], "ddoc": "i", "name": .string(name)]
            #expect(try client.send("POST", "/db/_index", body).status == 200)
        }
        let answer = try client.send("POST", "/db/_index/_bulk_delete", ["docids": ["i", "none"]])
        #expect(answer.json["success"] == [["id": "_design/i", "ok": true]])
        #expect(answer.json["fail"] == [["id": "_design/none", "error": "not_found"]])
        #expect(try client.send("GET", "/db/_index").json["total_rows"] == 1)
        #expect(try client.send("POST", "/db/_index/_bulk_delete", ["docids": [nil]]).status == 400)
    }

    @Test func `cleaning up keeps the files of defined indexes`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("POST", "/db/_index", made).status == 200)
        #expect(try client.send("PUT", "/db/x", ["a": 1]).status == 201)
        let query: JSONValue = ["selector": ["a": 1], "update": true]
        #expect(try client.send("POST", "/db/_find", query).json["docs"]?.array?.count == 1)
        #expect(try client.send("POST", "/db/_view_cleanup", [:]).status == 202)
        let old: JSONValue = ["selector": ["a": 1], "update": false]
        #expect(try client.send("POST", "/db/_find", old).json["docs"]?.array?.count == 1)
        #expect(try client.send("DELETE", "/db/_index/i/json/n").status == 200)
        #expect(try client.send("POST", "/db/_index", made).status == 200)
        #expect(try client.send("POST", "/db/_find", old).json["docs"] == [])
    }

    @Test func `a stale index is built while other requests are answered, and the task is shown`() throws {
        let client = try RouterClient.withScripts()
        for start in stride(from: 0, to: 20_000, by: 4000) {
            try client.load((start..<start + 4000).map { ["_id": .string("d\($0)"), "a": .number(JSONNumber($0))] })
        }
        #expect(try client.send("POST", "/db/_index", made).status == 200)
        let found = try client.send("POST", "/db/_find", ["selector": ["a": 19_999]])
        #expect(found.json["docs"]?[0]?["_id"] == "d19999")
        #expect(try client.send("GET", "/_active_tasks").json == [])
    }
}
