import Settle
import SettleDatabase
import SettleHTTP
import Testing

@testable import SettleServer

/// `_conflicts`: the documents in conflict, and one with everything that is to be seen.
@Suite struct RouterConflictTests {
    @Test func `a list has the conflicts by their ids, with kind, base and what differs`() throws {
        let client = try ConflictRoom.client()
        let list = try client.send("GET", "/db/_conflicts?differs=true").json
        #expect(list["total_rows"] == 2 && list["offset"] == .null)
        #expect(list["rows"]?.array?.map { $0["id"] } == ["milk", "tea"])
        let milk = list["rows"]?[0]?["value"]
        #expect(milk?["rev"] == .string("2-" + ConflictRoom.revision("b")))
        #expect(milk?["kind"] == "branches" && milk?["conflicts"]?.array?.count == 2)
        #expect(milk?["base"] == .string("1-" + ConflictRoom.revision("1")))
        #expect(milk?["differs"] == ["/count", "/name", "/note", "/tags"])
        #expect(list["rows"]?[1]?["value"]?["kind"] == "deletion")
    }

    @Test(arguments: [
        ("kind=branches", ["milk"], 1), ("kind=deletions", ["tea"], 1), ("startkey=%22n%22", ["tea"], 2),
        ("endkey=%22n%22", ["milk"], 2), ("limit=1", ["milk"], 2), ("limit=0", [], 2),
    ]) func `a list takes a part`(query: String, ids: [String], total: Int) throws {
        let list = try ConflictRoom.client().send("GET", "/db/_conflicts?\(query)").json
        #expect(list["rows"]?.array?.compactMap { $0["id"]?.string } == ids)
        #expect(list["total_rows"] == .number(JSONNumber(total)))
    }

    @Test func `information on databases counts conflicts where that is asked for`() throws {
        let client = try ConflictRoom.client()
        let asked: JSONValue = ["keys": ["db", "none"], "conflicts": true]
        let rows = try client.send("POST", "/_dbs_info", asked).json
        #expect(rows[0]?["info"]?["conflicts"] == ["branches": 1, "deletions": 1])
        #expect(rows[1] == ["key": "none", "error": "not_found"])
        let plain = try client.send("POST", "/_dbs_info", ["keys": ["db"]]).json
        #expect(plain[0]?["info"]?["conflicts"] == nil)
    }

    @Test func `keys have a row each, also those without a conflict`() throws {
        let client = try ConflictRoom.client()
        let rows = try client.send("POST", "/db/_conflicts", ["keys": ["tea", "rum"]]).json["rows"]
        #expect(rows?[0]?["value"]?["kind"] == "deletion")
        #expect(rows?[1] == ["key": "rum", "error": "not_found"])
    }

    @Test func `the answer about one conflict has base, leaves, sides and tree`() throws {
        let client = try ConflictRoom.client()
        let told = try client.send("GET", "/db/_conflicts/milk").json
        #expect(told["conflict"] == true && told["missing_base"] == .null)
        #expect(told["base"]?["doc"]?["name"] == "Milk")
        #expect(told["leaves"]?.array?.map { $0["doc"]?["name"] } == ["Oat milk", "Milk", "Soy milk"])
        #expect(told["leaves"]?.array?.map { $0["side"] } == ["local", "remote", "remote"])
        #expect(told["leaves"]?[1]?["differs"] == ["/count", "/tags", "/note"])
        #expect(told["tree"]?["count"] == 4 && told["tree"]?["revisions"]?[0]?["base"] == true)
        let short = try client.send("GET", "/db/_conflicts/milk?docs=false&tree=none").json
        #expect(short["tree"] == nil && short["base"]?["doc"] == nil && short["leaves"]?[0]?["doc"] == nil)
    }

    @Test func `a document without a conflict says so, and one that is not there is missing`() throws {
        let client = try ConflictRoom.client()
        _ = try client.send("PUT", "/db/rum", ["a": 1])
        let told = try client.send("GET", "/db/_conflicts/rum").json
        #expect(told["conflict"] == false && told["leaves"] == nil && told["tree"]?["count"] == 1)
        #expect(try client.send("GET", "/db/_conflicts/gin").status == 404)
        #expect(try client.send("GET", "/db/_conflicts?kind=some").status == 400)
        #expect(try client.send("GET", "/db/_conflicts?limit=-1").status == 400)
        #expect(try client.send("GET", "/db/_conflicts/milk?tree=tall").status == 400)
        #expect(try client.send("GET", "/none/_conflicts").status == 404)
    }

    @Test func `the tag of a conflict stays as long as its leaves`() throws {
        let client = try ConflictRoom.client()
        let tag = try #require(try client.send("GET", "/db/_conflicts/milk").headers["ETag"])
        #expect(try client.send("GET", "/db/_conflicts/milk", headers: ["If-None-Match": tag]).status == 304)
        try ConflictRoom.store([ConflictRoom.document("milk", ["7", "1"], ["name": "x"])], client)
        #expect(try client.send("GET", "/db/_conflicts/milk", headers: ["If-None-Match": tag]).status == 200)
    }

    @Test func `the tag of a document changes when a compaction has removed the content of a revision`() throws {
        let client = try RouterClient.withDatabase()
        var revision: JSONValue?
        for number in 1...3 {
            var edit: JSONValue = ["n": .number(JSONNumber(number))]
            edit["_rev"] = revision
            revision = try client.send("PUT", "/db/rum", edit).json["rev"]
        }
        let path = "/db/_conflicts/rum?tree=full"
        let before = try client.send("GET", path)
        #expect(before.json["tree"]?["revisions"]?[0]?["stored"] == true)
        try client.server.state.databases.open("db").compact()
        let tag = try #require(before.headers["ETag"])
        let after = try client.send("GET", path, headers: ["If-None-Match": tag])
        #expect(after.status == 200 && after.json["tree"]?["revisions"]?[0]?["stored"] == false)
    }

    @Test func `documents without a common ancestor say that they have no base`() throws {
        let client = try RouterClient.withDatabase()
        try ConflictRoom.store(
            [ConflictRoom.document("a", ["1"], ["x": 1]), ConflictRoom.document("a", ["2"], ["x": 2])], client)
        let told = try client.send("GET", "/db/_conflicts/a").json
        #expect(told["base"] == .null && told["missing_base"] == "none_in_common")
    }

    @Test func `long chains of a tree are folded unless all is asked for`() throws {
        let client = try RouterClient.withDatabase()
        let digits = (0..<20).map { String($0 % 10) + "f" }.map { String(repeating: $0, count: 16) }
        func chain(_ top: String) -> JSONValue {
            [
                "_id": "a", "_revisions": ["start": 21, "ids": .array(([top] + digits).map { .string($0) })],
            ]
        }
        try ConflictRoom.store([chain(ConflictRoom.revision("a")), chain(ConflictRoom.revision("b"))], client)
        let tree = try client.send("GET", "/db/_conflicts/a").json["tree"]
        let folds = tree?["revisions"]?.array?.filter { $0["folded"] != nil } ?? []
        #expect(tree?["count"] == 22 && folds.count == 1)
        let folded = folds.first?["folded"]?.int ?? 0
        #expect((tree?["revisions"]?.array?.count ?? 0) - 1 + folded == 22)
        let full = try client.send("GET", "/db/_conflicts/a?tree=full").json["tree"]
        #expect(full?["revisions"]?.array?.count == 22)
    }

    @Test func `a list of keys is of one kind, as long as was asked for, and with ids alone`() throws {
        let client = try ConflictRoom.client()
        let list = try client.send(
            "POST", "/db/_conflicts", ["keys": ["milk", "tea"], "kind": "branches", "values": false]
        ).json
        #expect(list["total_rows"] == 1)
        #expect(
            list["rows"] == [["id": "milk", "key": "milk"], ["key": "tea", "error": "not_found"]], "\(list)")
        let short = try client.send("POST", "/db/_conflicts", ["keys": ["tea", "milk"], "limit": 1]).json["rows"]
        #expect(short?.array?.compactMap { $0["id"] } == ["tea"])
    }

    @Test func `a document with too many leaves has its error in the list, and the others are there`() throws {
        let client = try ConflictRoom.client()
        let many = (0..<1001).map { number -> JSONValue in
            let digits = String(repeating: "0", count: 28) + String(1000 + number)
            return ["_id": "many", "n": 1, "_revisions": ["start": 1, "ids": [.string(digits)]]]
        }
        _ = try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": .array(many)])
        let rows = try client.send("GET", "/db/_conflicts").json["rows"]
        #expect(rows?.array?.map { $0["id"] } == ["many", "milk", "tea"])
        #expect(rows?[0]?["error"] == "bad_request" && rows?[1]?["value"] != nil)
    }

    @Test func `contents past the bound are left out`() throws {
        let client = try RouterClient.withDatabase()
        let long = JSONValue.string(String(repeating: "x", count: 6 << 20))
        try ConflictRoom.store(
            ["1", "2", "3", "4"].map { ConflictRoom.document("a", [$0], ["text": long]) }, client)
        let told = try client.send("GET", "/db/_conflicts/a?tree=none")
        #expect(told.body.count < 17 << 20)
        #expect(told.json["leaves"]?.array?.map { $0["omitted"] == true } == [false, false, true, true])
    }
}
