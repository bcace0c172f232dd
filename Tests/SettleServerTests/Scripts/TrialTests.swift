import Settle
import Testing

@testable import SettleServer

/// `_try`: functions on samples, and nothing stored.
@Suite(.timeLimit(.minutes(5))) struct TrialTests {
    private func client() throws -> RouterClient {
        let client = try RouterClient.withScripts()
        for (id, count) in [("a", 1), ("b", 2), ("c", 3)] {
            #expect(try client.send("PUT", "/db/\(id)", ["count": .number(JSONNumber(count))]).status == 201)
        }
        return client
    }

    @Test func `a map function shows the rows of samples, and a reduce function their sum`() throws {
        let client = try client()
        let body: JSONValue = [
            "functions": [
                "map": "function (doc) { if (doc.count > 1) emit(doc.count, doc._id); }",
                "reduce": "function (keys, values) { return values.join('+'); }",
            ], "docs": ["limit": 20],
        ]
        let answer = try client.send("POST", "/db/_try", body).json
        #expect(answer["rows"]?.array?.map { $0["key"] } == [2, 3] && answer["docs"] == 3)
        #expect(answer["rows"]?[0] == ["id": "b", "key": 2, "value": "b"])
        #expect(answer["reduced"] == [["key": .null, "value": "b+c"]] && answer["errors"] == [])
        #expect(try client.send("GET", "/db/_design_docs").json["rows"] == [])
    }

    private static let choices: [(JSONValue, [String])] = [
        (["ids": ["c", "none"]], ["c"]), (["limit": 1], ["a"]), (["startkey": "b"], ["b", "c"]),
        (["given": [["_id": "x", "count": 9]]], ["x"]), (["selector": ["count": ["$gt": 1]]], ["b", "c"]),
        (["selector": ["count": ["$gt": 1]], "limit": 1], ["b"]),
    ]

    @Test(arguments: choices)
    func `samples are chosen`(docs: JSONValue, ids: [String]) throws {
        let body: JSONValue = ["functions": ["map": "function (doc) { emit(doc._id); }"], "docs": docs]
        let rows = try client().send("POST", "/db/_try", body).json["rows"]
        #expect(rows?.array?.compactMap { $0["id"]?.string } == ids)
    }

    @Test func `deleted documents and design documents are no samples, and take no place of one`() throws {
        let client = try client()
        let rev = try client.send("GET", "/db/a").json["_rev"]?.string ?? ""
        #expect(try client.send("DELETE", "/db/a?rev=\(rev)").status == 200)
        try client.design("v", ["views": [:]])
        let body: JSONValue = ["functions": ["map": "function (doc) { emit(doc._id); }"], "docs": ["limit": 2]]
        let rows = try client.send("POST", "/db/_try", body).json["rows"]
        #expect(rows?.array?.map { $0["id"] } == ["b", "c"])
    }

    @Test func `a mistake has its line, and an endless loop ends`() throws {
        let client = try client()
        let mistake: JSONValue = ["functions": ["map": "function (doc) {\n  emit(doc.count;\n}"]]
        let told = try client.send("POST", "/db/_try", mistake).json
        #expect(told["rows"] == [] && told["errors"]?[0]?["line"] == 2)
        let endless: JSONValue = ["functions": ["map": "function (doc) { while (true) {} }"], "docs": ["limit": 1]]
        #expect(try client.send("POST", "/db/_try", endless).json["errors"]?.array?.count == 1)
    }

    @Test func `the answer names the document and the line of what a map function throws and logs`() throws {
        let text =
            "function (doc) {\n  log('at ' + doc._id);\n  if (doc.count > 1) doc.list.length;\n  emit(doc._id);\n}"
        let answer = try client().send("POST", "/db/_try", ["functions": ["map": .string(text)]]).json
        #expect(answer["rows"]?.array?.map { $0["id"] } == ["a"])
        #expect(answer["errors"]?.array?.map { $0["id"] } == ["b", "c"])
        #expect(answer["errors"]?[0]?["error"] == "TypeError" && answer["errors"]?[0]?["line"] == 3)
        #expect(answer["log"] == ["at a", "at b", "at c"])
    }

    @Test(
        arguments: [
            ("_sum", 6), ("_count", 3), ("_stats", ["sum": 6, "count": 3, "min": 1, "max": 3, "sumsqr": 14]),
            ("function (keys) { return keys[0]; }", [1, "a"]),
        ] as [(String, JSONValue)])
    func `reduce functions give one value`(reduce: String, value: JSONValue) throws {
        let functions: JSONValue = ["map": "function (doc) { emit(doc.count, doc.count); }", "reduce": .string(reduce)]
        let answer = try client().send("POST", "/db/_try", ["functions": functions]).json
        #expect(answer["reduced"]?[0]?["value"] == value && answer["errors"] == [])
    }

    @Test func `a reduce function that fails is an error of its own, and the rows are there`() throws {
        for (reduce, error) in [("function () { return no; }", "ReferenceError"), ("_avg", "compilation_error")] {
            let functions: JSONValue = ["map": "function (doc) { emit(1); }", "reduce": .string(reduce)]
            let answer = try client().send("POST", "/db/_try", ["functions": functions]).json
            #expect(answer["errors"]?[0]?["function"] == "reduce" && answer["errors"]?[0]?["error"]?.string == error)
        }
    }

    @Test func `a filter passes some samples, and sees the query`() throws {
        let body: JSONValue = [
            "functions": ["filter": "function (doc, req) { return doc.count > req.query.least; }"],
            "query": ["least": "2"],
        ]
        let answer = try client().send("POST", "/db/_try", body).json
        #expect(answer["results"]?.array?.map { $0["passes"] } == [false, false, true])
    }

    @Test func `functions find the modules they are given, and an error in one has no line of the function`() throws {
        let client = try client()
        func answer(_ module: String) throws -> JSONValue {
            try client.send(
                "POST", "/db/_try",
                [
                    "functions": ["map": "function (doc) {\n\n  emit(require('views/lib/a').twice(doc.count)); }"],
                    "modules": ["views": ["lib": ["a": .string(module)]]],
                ]
            ).json
        }
        #expect(try answer("exports.twice = function (n) { return 2 * n; };")["rows"]?[2]?["key"] == 6)
        let wrong = try answer("exports.twice = function (n) { return n.a.b; };")
        #expect(wrong["errors"]?[0]?["error"] == "TypeError" && wrong["errors"]?[0]?["line"] == nil)
    }

    @Test func `all of a trial ends within the time of one function`() throws {
        // Each sample takes less than the time of one function, also where the processors are busy.
        let slow = "function (doc) { const end = Date.now() + 1000; while (Date.now() < end); }"
        let samples: [JSONValue] = (0..<100).map { ["_id": .string("d\($0)")] }
        let body: JSONValue = ["functions": ["map": .string(slow)], "docs": ["given": .array(samples)]]
        let answer = try client().send("POST", "/db/_try", body).json
        #expect(answer["errors"]?[0]?["error"] == "os_process_error")
    }

    @Test(
        arguments: [
            ["map": 1], ["reduce": "_sum"], ["map": "function () {}", "filter": "function () {}"], [:],
        ] as [JSONValue])
    func `functions that make no trial are refused`(functions: JSONValue) throws {
        #expect(try client().send("POST", "/db/_try", ["functions": functions]).status == 400)
    }

    @Test func `a rule is tried as anybody, on the stored document`() throws {
        let rule = """
            function (doc, old, user) {
              if (old.count !== doc.count - 1) throw({forbidden: 'count was ' + old.count});
              if (user.roles.indexOf('staff') < 0) throw({unauthorized: user.name + ' is no staff'});
            }
            """
        let client = try client()
        func results(_ count: Int, _ roles: JSONValue) throws -> JSONValue? {
            try client.send(
                "POST", "/db/_try",
                [
                    "functions": ["validate_doc_update": .string(rule)], "user": ["name": "ben", "roles": roles],
                    "docs": ["given": [["_id": "a", "count": .number(JSONNumber(count))]]],
                ]
            ).json["results"]
        }
        #expect(try results(2, ["staff"]) == [["id": "a", "ok": true]])
        #expect(try results(3, ["staff"])?[0]?["reason"] == "count was 1")
        #expect(try results(2, [])?[0]?["error"] == "unauthorized")
    }

    @Test func `members ask the stored rules, and only administrators try others`() throws {
        let client = try client()
        try client.design(
            "v", ["validate_doc_update": "function (doc) { if (doc.evil) throw({forbidden: 'evil'}); }"])
        #expect(try client.send("PUT", "/_users", [:]).status < 500)
        #expect(try client.send("PUT", "/_users/org.couchdb.user:ben", RouterClient.user("ben")).status == 201)
        #expect(try client.send("PUT", "/db/_security", ["members": ["names": ["ben"]]]).status == 200)
        let given: JSONValue = ["given": [["_id": "x", "evil": 1], ["_id": "y"]]]
        let stored = try client.send(as: "ben:pw", "POST", "/db/_try", ["functions": "stored", "docs": given])
        #expect(stored.json["results"]?.array?.map { $0["ok"] } == [false, true])
        #expect(try client.send("GET", "/db/x").status == 404)
        let other: JSONValue = ["functions": ["map": "function (doc) {}"]]
        #expect(try client.send(as: "ben:pw", "POST", "/db/_try", other).status == 403)
        #expect(try client.send("POST", "/db/_try", ["functions": ["show": "function () {}"]]).status == 400)
        #expect(try client.send("POST", "/db/_try", [:]).status == 400)
    }

    @Test func `validation is asked about every planned settlement`() throws {
        let client = try ConflictRoom.client(RouterClient.withScripts())
        try client.design(
            "v", ["validate_doc_update": "function (doc) { if (doc._deleted) throw({forbidden: 'no tombstones'}); }"])
        let planned = try client.send("POST", "/db/_settle/milk", ["policy": "threeWayMerge", "dry_run": true]).json
        #expect(planned["refused"]?.array?.map { $0["reason"] } == ["no tombstones", "no tombstones"])
        let done = try client.send("POST", "/db/_settle/milk", ["policy": "threeWayMerge"])
        #expect(done.status == 403 && done.json["reason"] == "no tombstones")
        #expect(done.json["rev"] == planned["refused"]?[0]?["rev"])
        #expect(try client.send("GET", "/db/milk?conflicts=true").json["_conflicts"]?.array?.count == 2)
        let many = try client.send("POST", "/db/_settle", ["policy": "threeWayMerge", "kind": "branches"]).json
        #expect(many["failed"] == 1 && many["rows"]?[0]?["error"] == "forbidden")
    }
}
