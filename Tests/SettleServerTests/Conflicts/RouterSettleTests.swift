import Settle
import Testing

@testable import SettleServer

/// `_settle`: a dry run, and the same revisions written.
@Suite struct RouterSettleTests {
    private static let sums: JSONValue = ["name": "threeWayMerge", "rules": ["/count": "sum", "/tags": "union"]]

    @Test func `a dry run shows the revisions that are written then, and writes nothing`() throws {
        let client = try ConflictRoom.client()
        var request: JSONValue = ["policy": Self.sums, "dry_run": true]
        let planned = try client.send("POST", "/db/_settle/milk", request)
        #expect(planned.status == 200 && planned.json["outcome"] == "settled")
        #expect(planned.json["decision"]?["members"]?.array?.first { $0["path"] == "/count" }?["result"] == 4)
        #expect(try client.send("GET", "/db/_conflicts?kind=branches").json["total_rows"] == 1)
        request["dry_run"] = nil
        let done = try client.send("POST", "/db/_settle/milk", request)
        #expect(done.status == 201 && done.json["outcome"] == "settled")
        #expect(done.json["rev"] == planned.json["rev"])
        #expect(done.json["written"]?.array == planned.json["writes"]?.array?.compactMap { $0["rev"] })
        let now = try client.send("GET", "/db/milk?conflicts=true").json
        #expect(now["_rev"] == done.json["rev"] && now["_conflicts"] == nil && now["count"] == 4)
        #expect(try client.send("POST", "/db/_settle/milk", request).json["outcome"] == "nothing")
    }

    @Test func `the library settles by the same revisions`() throws {
        let client = try ConflictRoom.client()
        let planned = try client.send("POST", "/db/_settle/milk", ["policy": Self.sums, "dry_run": true]).json
        let database = try client.server.state.databases.open("db")
        var rules = MergeRules()
        (rules["/count"], rules["/tags"]) = (.sum, .union)
        let settlement = try database.settle("milk", using: .threeWayMerge(rules))
        #expect(
            settlement.written.map { .string($0.description) } == planned["writes"]?.array?.compactMap { $0["rev"] })
    }

    @Test func `picks are laid over the merge`() throws {
        let client = try ConflictRoom.client()
        let soy = JSONValue.string("2-" + ConflictRoom.revision("0"))
        let request: JSONValue = [
            "policy": ["name": "threeWayMerge", "on_clash": "winner"], "leaves": ConflictRoom.leaves,
            "picks": [
                "/name": ["rev": soy], "/price": ["value": 12.5], "/note": ["base": true], "/tags": ["removed": true],
            ],
        ]
        var rehearsal = request
        rehearsal["dry_run"] = true
        let planned = try client.send("POST", "/db/_settle/milk", rehearsal).json
        let name = planned["decision"]?["members"]?.array?.first { $0["path"] == "/name" }
        #expect(name?["picked"] == true && name?["result"] == "Soy milk")
        #expect(try client.send("POST", "/db/_settle/milk", request).json["rev"] == planned["rev"])
        let now = try client.send("GET", "/db/milk").json
        #expect(now["name"] == "Soy milk" && now["price"] == 12.5 && now["note"] == "low fat" && now["tags"] == nil)
    }

    /// Stores a document `d` with two leaves. Each has two attachments whose names look the same: the name of `one` is
    /// a letter as one character, and that of `two` is the same letter as two.
    private func storeAttachments(_ client: RouterClient) throws -> JSONValue {
        let files: JSONValue = [
            "\u{E9}": ["content_type": "text/plain", "data": "b25l"],
            "e\u{301}": ["content_type": "text/plain", "data": "dHdv"],
        ]
        let leaves = ["a", "b"].map { JSONValue.string("1-" + ConflictRoom.revision($0)) }
        let documents = leaves.map { leaf -> JSONValue in
            ["_id": "d", "_rev": leaf, "leaf": leaf, "_attachments": files]
        }
        try ConflictRoom.store(documents, client)
        return .array(leaves)
    }

    @Test func `a settled document keeps each of two attachments whose names look the same`() throws {
        let client = try RouterClient.withDatabase()
        let leaves = try storeAttachments(client)
        let stubs: JSONValue = ["\u{E9}": ["stub": true], "e\u{301}": ["stub": true]]
        let request: JSONValue = ["doc": ["_attachments": stubs], "leaves": leaves]
        #expect(try client.send("POST", "/db/_settle/d", request).status == 201)
        #expect(try client.send("GET", "/db/d/%C3%A9").text == "one")
        #expect(try client.send("GET", "/db/d/e%CC%81").text == "two")
    }

    @Test func `a pick removes its attachment, and none whose name looks the same`() throws {
        let client = try RouterClient.withDatabase()
        let leaves = try storeAttachments(client)
        let request: JSONValue = [
            "policy": ["name": "threeWayMerge", "on_clash": "winner"], "leaves": leaves,
            "picks": ["/_attachments/\u{E9}": ["removed": true]],
        ]
        #expect(try client.send("POST", "/db/_settle/d", request).status == 201)
        #expect(try client.send("GET", "/db/d/%C3%A9").status == 404)
        #expect(try client.send("GET", "/db/d/e%CC%81").text == "two")
    }

    @Test func `a pick finds a member whose name begins with a combining mark`() throws {
        let client = try RouterClient.withDatabase()
        let leaves = ["a", "b"].map { JSONValue.string("1-" + ConflictRoom.revision($0)) }
        let documents = leaves.map { leaf -> JSONValue in ["_id": "d", "_rev": leaf, "a": ["\u{301}b": leaf]] }
        try ConflictRoom.store(documents, client)
        let request: JSONValue = [
            "policy": ["name": "threeWayMerge", "on_clash": "winner"], "leaves": .array(leaves),
            "picks": ["/a/\u{301}b": ["value": 7]],
        ]
        #expect(try client.send("POST", "/db/_settle/d", request).status == 201)
        #expect(try client.send("GET", "/db/d").json["a"] == ["\u{301}b": 7])
    }

    @Test func `numbers of a picked value and of a document keep their spelling`() throws {
        let client = try ConflictRoom.client()
        let text =
            #"{"doc":{"b":9223372036854775807,"a":1e3,"z":-0.0},"leaves":\#(ConflictRoom.leaves.description)}"#
        let answer = try client.send("POST", "/db/_settle/milk", bytes: Array(text.utf8))
        #expect(answer.status == 201)
        let written = try client.send(
            "PUT", "/db/same", bytes: Array(#"{"b":9223372036854775807,"a":1e3,"z":-0.0}"#.utf8))
        #expect(written.status == 201)
        // As any document is shown that was written so.
        let (now, same) = try (client.send("GET", "/db/milk").text, client.send("GET", "/db/same").text)
        #expect(now.contains("9223372036854775807") && now.suffix(40) == same.suffix(40))
    }

    @Test func `a leaf is kept, and a document deleted`() throws {
        let client = try ConflictRoom.client()
        let kept = try client.send(
            "POST", "/db/_settle/milk",
            ["keep": .string("2-" + ConflictRoom.revision("a")), "leaves": ConflictRoom.leaves])
        #expect(kept.status == 201)
        #expect(try client.send("GET", "/db/milk").json["count"] == 3)
        let told = try client.send("GET", "/db/_conflicts/tea?docs=false&tree=none").json
        let leaves = JSONValue.array(told["leaves"]?.array?.compactMap { $0["rev"] } ?? [])
        #expect(try client.send("POST", "/db/_settle/tea", ["delete": true, "leaves": leaves]).status == 201)
        #expect(try client.send("GET", "/db/tea").status == 404)
        #expect(try client.send("GET", "/db/_conflicts").json["total_rows"] == 0)
    }

    @Test func `the answer names leaves that changed meanwhile, and nothing is written`() throws {
        let client = try ConflictRoom.client()
        try ConflictRoom.store([ConflictRoom.document("milk", ["9", "1"], ["name": "Rice milk"])], client)
        let answer = try client.send(
            "POST", "/db/_settle/milk",
            ["policy": "threeWayMerge", "picks": ["/name": ["base": true]], "leaves": ConflictRoom.leaves])
        #expect(answer.status == 409 && answer.error == "conflict: The leaves have changed.")
        #expect(answer.json["leaves"]?.array?.count == 4)
        #expect(try client.send("GET", "/db/milk?conflicts=true").json["_conflicts"]?.array?.count == 3)
    }

    @Test(arguments: [
        #"{}"#, #"{"policy":"threeWayMerge","delete":true}"#, #"{"policy":"none"}"#, #"{"keep":"2-b"}"#,
        #"{"policy":{"name":"threeWayMerge","rules":{"count":"sum"}}}"#,
        #"{"policy":{"name":"threeWayMerge","rules":{"/count":"add"}}}"#,
        #"{"policy":{"name":"deletesWin","rules":{"/count":"sum"}}}"#, #"{"policy":"threeWayMerge","what":1}"#,
        #"{"keep":"x","leaves":[]}"#, #"{"policy":"threeWayMerge","picks":{"name":{"base":true}},"leaves":[]}"#,
        #"{"policy":"threeWayMerge","picks":{"/name":{"base":true}},"dry_run":1}"#,
        #"{"policy":"threeWayMerge","picks":{"/name":{"rev":"1-11111111111111111111111111111111"}},"dry_run":true}"#,
        #"{"policy":"threeWayMerge","picks":{"/name/x":{"value":1}},"dry_run":true}"#,
        #"{"delete":true}"#, #"{"doc":{"_x":1},"dry_run":true}"#, "[]",
    ]) func `a request that can't be meant is refused with its reason`(body: String) throws {
        let client = try ConflictRoom.client()
        let answer = try client.send("POST", "/db/_settle/milk", bytes: Array(body.utf8))
        #expect(answer.status == 400 && (answer.json["reason"]?.string?.isEmpty == false), "\(answer.text)")
        #expect(try client.send("GET", "/db/_conflicts").json["total_rows"] == 2)
    }

    @Test func `an attachment that no leaf has is missing, and a missing document too`() throws {
        let client = try ConflictRoom.client()
        let doc: JSONValue = ["_attachments": ["x.txt": ["stub": true]]]
        let answer = try client.send("POST", "/db/_settle/milk", ["doc": doc, "leaves": ConflictRoom.leaves])
        #expect(answer.status == 412 && answer.json["error"] == "missing_stub")
        #expect(try client.send("POST", "/db/_settle/none", ["policy": "threeWayMerge"]).status == 404)
    }

    @Test func `many are settled by pages, and rehearsed before`() throws {
        let client = try RouterClient.withDatabase()
        let count = 25
        for number in 0..<count {
            try ConflictRoom.store(
                [
                    ConflictRoom.document("d\(100 + number)", ["1"], ["n": 0]),
                    ConflictRoom.document("d\(100 + number)", ["a", "1"], ["n": 1]),
                    ConflictRoom.document("d\(100 + number)", ["b", "1"], ["n": 2]),
                ], client)
        }
        let rehearsal = try client.send(
            "POST", "/db/_settle", ["policy": "threeWayMerge", "limit": 100, "dry_run": true]
        ).json
        #expect(rehearsal["settled"] == 25 && rehearsal["rows"]?[0]?["clashes"] == ["/n"])
        #expect(try client.send("GET", "/db/_conflicts").json["total_rows"] == 25)
        var (start, settled, calls) = (JSONValue.null, 0, 0)
        repeat {
            let page = try client.send(
                "POST", "/db/_settle", ["policy": "threeWayMerge", "limit": 10, "startkey": start]
            ).json
            settled += page["settled"]?.int ?? 0
            start = page["next_startkey"] ?? .null
            calls += 1
        } while start != .null && calls < 10
        #expect(settled == count && calls == 3)
        #expect(try client.send("GET", "/db/_conflicts").json["total_rows"] == 0)
        let again = try client.send("POST", "/db/_settle", ["policy": "threeWayMerge"]).json
        #expect(again["rows"] == [] && again["next_startkey"] == .null)
    }

    @Test(arguments: ["_users", "_replicator", "team/_replicator"])
    func `in databases of the system nothing but a leaf is written`(database: String) throws {
        let client = try RouterClient()
        let name = database.replacing("/", with: "%2F")
        _ = try client.send("PUT", "/\(name)")
        for body: JSONValue in [
            ["doc": ["password": "PLAINTEXT"], "leaves": []],
            ["policy": "threeWayMerge", "picks": ["/password": ["value": "PLAINTEXT"]], "leaves": []],
        ] {
            let answer = try client.send("POST", "/\(name)/_settle/org.couchdb.user:ben", body)
            #expect(answer.status == 403, "\(answer.text)")
        }
    }

    /// Settles the conflicts of keys in pages, and returns the ids of the rows, in order.
    private func settle(_ keys: [String], pagesOf limit: Int, _ client: RouterClient) throws -> [JSONValue] {
        for id in Set(keys) {
            try ConflictRoom.store(
                [ConflictRoom.document(id, ["a"], ["n": 1]), ConflictRoom.document(id, ["b"], ["n": 2])], client)
        }
        var (start, settled) = (JSONValue.null, [JSONValue]())
        for _ in 0..<5 {
            let page = try client.send(
                "POST", "/db/_settle",
                [
                    "policy": "mostRevisions", "keys": .array(keys.map { .string($0) }),
                    "limit": .number(JSONNumber(limit)), "startkey": start,
                ]
            ).json
            settled += page["rows"]?.array?.compactMap { $0["id"] } ?? []
            start = page["next_startkey"] ?? .null
            if start == .null { return settled }
        }
        Issue.record("the pages have no end")
        return settled
    }

    @Test func `a call with keys goes on where the last one ended`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try settle(["k1", "k2", "k3"], pagesOf: 1, client) == ["k1", "k2", "k3"])
    }

    @Test func `repeated keys are settled once, and do not hold up the pages`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try settle(["a", "b", "a", "c"], pagesOf: 2, client) == ["a", "b", "c"])
    }

    @Test(arguments: [true, false])
    func `of the keys only conflicts of the given kind are settled`(isDryRun: Bool) throws {
        let client = try ConflictRoom.client()
        let page = try client.send(
            "POST", "/db/_settle",
            [
                "policy": "mostRevisions", "keys": ["milk", "tea"], "kind": "deletions",
                "dry_run": .bool(isDryRun),
            ]
        ).json
        #expect(page["rows"]?[0]?["id"] == "milk" && page["rows"]?[0]?["outcome"] == "left", "\(page)")
        #expect(page["rows"]?[0]?["written"] == 0)
        #expect(try client.send("GET", "/db/_conflicts?kind=branches").json["total_rows"] == 1)
    }

    @Test func `with keys a range is refused`() throws {
        let client = try ConflictRoom.client()
        for more: JSONObject in [["endkey": "n"], ["startkey": "beer"], ["kind": "some"]] {
            var request: JSONObject = ["policy": "mostRevisions", "keys": ["milk", "tea"]]
            for member in more { request[member.name] = member.value }
            #expect(try client.send("POST", "/db/_settle", .object(request)).status == 400, "\(more)")
        }
        for more: JSONObject in [["endkey": "n"], ["start_key": "milk"], ["kind": "some"], ["limit": -1]] {
            var request: JSONObject = ["keys": ["milk", "tea"]]
            for member in more { request[member.name] = member.value }
            #expect(try client.send("POST", "/db/_conflicts", .object(request)).status == 400, "\(more)")
        }
        #expect(try client.send("GET", "/db/_conflicts").json["total_rows"] == 2)
    }

    @Test func `a design document gets nothing that no leaf has`() throws {
        let client = try RouterClient.withDatabase()
        try ConflictRoom.store(
            [
                ConflictRoom.document("_design/a", ["1"], ["x": 1]),
                ConflictRoom.document("_design/a", ["2"], ["x": 2]),
            ], client)
        let leaves: JSONValue = .array(["2", "1"].map { .string("1-" + ConflictRoom.revision($0)) })
        let doc = try client.send("POST", "/db/_settle/_design/a", ["doc": ["views": 1], "leaves": leaves])
        #expect(doc.status == 403)
        let kept = try client.send(
            "POST", "/db/_settle/_design/a", ["keep": .string("1-" + ConflictRoom.revision("1")), "leaves": leaves])
        #expect(kept.status == 201)
        #expect(try client.send("GET", "/db/_design/a").json["x"] == 1)
    }

    @Test func `rules and picks are bounded`() throws {
        let client = try ConflictRoom.client()
        let many = JSONObject((0..<1001).map { ("/m\($0)", JSONValue.string("sum")) })
        let rules: JSONValue = ["policy": ["name": "threeWayMerge", "rules": .object(many)], "dry_run": true]
        #expect(try client.send("POST", "/db/_settle/milk", rules).status == 400)
        let picks = JSONObject((0..<1001).map { ("/m\($0)", ["base": true] as JSONValue) })
        let picked: JSONValue = ["policy": "threeWayMerge", "picks": .object(picks), "dry_run": true]
        #expect(try client.send("POST", "/db/_settle/milk", picked).status == 400)
    }

    @Test func `an unknown policy or rule is answered with the nearest`() throws {
        let client = try ConflictRoom.client()
        for (policy, nearest): (JSONValue, String) in [
            ("threeWayMerg", "threeWayMerge"), (["name": "threeWayMerge", "rules": ["/a": "unoin"]], "union"),
        ] {
            let answer = try client.send("POST", "/db/_settle/milk", ["policy": policy])
            #expect(answer.status == 400)
            #expect(answer.json["reason"]?.string?.hasSuffix(" Did you mean \(nearest)?") == true, "\(answer.text)")
        }
    }

    @Test func `a policy leaves what it does not decide`() throws {
        let client = try ConflictRoom.client()
        let page = try client.send("POST", "/db/_settle", ["policy": "keepAll"]).json
        #expect(page["left"] == 1 && page["gone"] == 1 && page["written"] == 0)
        let one = try client.send("POST", "/db/_settle/milk", ["policy": "keepAll"])
        #expect(one.status == 200 && one.json["outcome"] == "left")
    }
}
