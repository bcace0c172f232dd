import Settle
import Testing

@testable import SettleServer

/// Replicated writes to a database that refuses branches.
@Suite struct RouterBranchTests {
    private func document(_ id: String, _ start: Int, _ ids: [JSONValue]) -> JSONValue {
        ["_id": .string(id), "_revisions": ["start": .number(JSONNumber(start)), "ids": .array(ids)]]
    }

    @Test func `a document that would branch is refused, and the others are stored`() throws {
        let client = try RouterClient.withDatabase()
        let first: JSONValue = [document("a", 2, ["b", "a"]), document("b", 2, ["b", "a"])]
        #expect(try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": first]).status == 201)
        let docs: JSONValue = [
            document("a", 2, ["c", "a"]), document("b", 3, ["d", "b", "a"]), document("n", 1, ["x"]),
            document("t", 1, ["x"]), document("t", 1, ["y"]),
        ]
        let answer = try client.send(
            "POST", "/db/_bulk_docs", ["new_edits": false, "conflicts": "refuse", "docs": docs])
        #expect(answer.status == 201)
        let rows = answer.json.array ?? []
        #expect(rows.compactMap { $0["rev"]?.string } == ["2-c", "1-x", "1-y"])
        #expect(rows.allSatisfy { $0["error"] == "conflict" && $0["id"] != nil && $0["reason"] != nil })
        #expect(try client.send("GET", "/db/a?conflicts=true").json["_conflicts"] == nil)
        #expect(try client.send("GET", "/db/b").json["_rev"] == "3-d")
        #expect(try client.send("GET", "/db/t").status == 404)
        // CouchDB knows no such member.
        let other = try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "conflicts": true, "docs": docs])
        #expect(other.json == [])
        #expect(try client.send("GET", "/db/a?conflicts=true").json["_conflicts"] == ["2-b"])
    }

    @Test func `a single document that would branch is refused`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a?new_edits=false", document("a", 1, ["a"])).status == 201)
        let refused = try client.send("PUT", "/db/a?new_edits=false&conflicts=refuse", document("a", 1, ["b"]))
        #expect(refused.status == 409)
        #expect(
            try client.send("PUT", "/db/a?new_edits=false&conflicts=refuse", document("a", 2, ["c", "a"])).status == 201
        )
        #expect(try client.send("PUT", "/db/a?new_edits=false", document("a", 1, ["b"])).status == 201)
    }

    @Test(arguments: ["", "&batch=ok"]) func `an edit may begin a branch on a revision that was edited`(
        batch: String
    ) throws {
        let client = try RouterClient.withDatabase()
        let first = try client.send("PUT", "/db/a", ["v": 1]).json["rev"]?.string ?? ""
        let second = try client.send("PUT", "/db/a?rev=\(first)", ["v": 2]).json["rev"]?.string ?? ""
        #expect(try client.send("PUT", "/db/a?rev=\(first)", ["v": 3]).status == 409)
        let branch = try client.send("PUT", "/db/a?rev=\(first)&conflicts=branch\(batch)", ["v": 3])
        #expect(branch.status == (batch.isEmpty ? 201 : 202))
        let leaves =
            try client.send("GET", "/db/a?open_revs=all", headers: ["Accept": "application/json"]).json.array ?? []
        #expect(leaves.count == 2 && leaves.contains { $0["ok"]?["_rev"]?.string == second })
        #expect(Set(leaves.compactMap { $0["ok"]?["v"]?.int }) == [2, 3])
        #expect(try client.send("PUT", "/db/a?rev=7-ab&conflicts=branch", ["v": 4]).status == 404)
    }

    @Test func `a function sees the stored document when a branch begins on a compacted revision`() throws {
        let client = try RouterClient.withScripts()
        let function = "function (doc, old) { if (old && old.locked) throw({forbidden: 'locked'}); }"
        try client.design("v", ["validate_doc_update": .string(function)])
        let first = try client.send("PUT", "/db/a", ["v": 1]).json["rev"]?.string ?? ""
        #expect(try client.send("PUT", "/db/a?rev=\(first)", ["locked": true]).status == 201)
        #expect(try client.send("POST", "/db/_compact", [:]).status == 202)
        while try client.send("GET", "/db").json["compact_running"] == true {}
        #expect(try client.send("GET", "/db/a?rev=\(first)").status == 404)
        let refused = try client.send("PUT", "/db/a?rev=\(first)&conflicts=branch", ["v": 9])
        #expect(refused.status == 403 && refused.json["reason"] == "locked")
    }

    @Test func `a deletion on a tombstone closes no other deletion`() throws {
        let client = try RouterClient.withDatabase()
        let first = try client.send("PUT", "/db/a", ["v": 1]).json["rev"]?.string ?? ""
        let deleted = try client.send("DELETE", "/db/a?rev=\(first)").json["rev"]?.string ?? ""
        let again = try client.send("PUT", "/db/a?rev=\(deleted)&conflicts=branch", ["_deleted": true])
        #expect(again.status < 300)
        let leaves =
            try client.send("GET", "/db/a?open_revs=all", headers: ["Accept": "application/json"]).json.array ?? []
        #expect(leaves.compactMap { $0["ok"]?["_rev"] } == [again.json["rev"] ?? .null])
    }
}
