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
        (["given": [["_id": "x", "count": 9]]], ["x"]),
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
        #expect(done.status == 403 && done.json["reason"]?.string?.hasPrefix("no tombstones (3-") == true)
        #expect(try client.send("GET", "/db/milk?conflicts=true").json["_conflicts"]?.array?.count == 2)
        let many = try client.send("POST", "/db/_settle", ["policy": "threeWayMerge", "kind": "branches"]).json
        #expect(many["failed"] == 1 && many["rows"]?[0]?["error"] == "forbidden")
    }
}
