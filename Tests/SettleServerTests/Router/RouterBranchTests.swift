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
}
