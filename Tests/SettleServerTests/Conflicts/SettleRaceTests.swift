import Settle
import Testing

@testable import SettleServer

/// `_settle` where two replicas have answered the same question at the same time, and another edit is there.
///
///     1-1 ─┬─ 2-b ─┬─ 3-c   an answer, which closes 2-a by 3-e
///          │       └─ 3-d   another one, which closes 2-a by 3-f
///          ├─ 2-a ─┬─ 3-e ✕
///          │       └─ 3-f ✕
///          └─ 2-9           an edit that neither has seen
@Suite struct SettleRaceTests {
    private static let seen: JSONValue = .array(
        ["3-\(ConflictRoom.revision("d"))", "3-\(ConflictRoom.revision("c"))", "2-\(ConflictRoom.revision("9"))"]
            .map { .string($0) })

    private func client() throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        func closing(_ digit: String, for survivor: String) -> JSONValue {
            ConflictRoom.document(
                "a", [digit, "a", "1"], ["$closed": .string("3-" + ConflictRoom.revision(survivor))], isDeleted: true)
        }
        try ConflictRoom.store(
            [
                ConflictRoom.document("a", ["1"], ["n": 0]), ConflictRoom.document("a", ["b", "1"], ["n": 1]),
                ConflictRoom.document("a", ["a", "1"], ["n": 2]),
                ConflictRoom.document("a", ["c", "b", "1"], ["n": 3]),
                ConflictRoom.document("a", ["d", "b", "1"], ["n": 4]), closing("e", for: "c"), closing("f", for: "d"),
                ConflictRoom.document("a", ["9", "1"], ["n": 9]),
            ], client)
        return client
    }

    @Test func `a person decides about racing answers too, by the revisions of the dry run`() throws {
        let client = try client()
        var request: JSONValue = [
            "keep": .string("2-" + ConflictRoom.revision("9")), "leaves": Self.seen, "dry_run": true,
        ]
        let planned = try client.send("POST", "/db/_settle/a", request).json
        request["dry_run"] = nil
        let done = try client.send("POST", "/db/_settle/a", request)
        #expect(done.status == 201, "\(done.text)")
        #expect(done.json["written"]?.array == planned["writes"]?.array?.compactMap { $0["rev"] })
        let now = try client.send("GET", "/db/a?conflicts=true").json
        #expect(now["n"] == 9 && now["_conflicts"] == nil)
    }

    @Test func `a policy settles racing answers on its way, and no leaves have changed by that`() throws {
        let client = try client()
        let request: JSONValue = ["policy": "threeWayMerge", "leaves": Self.seen]
        let done = try client.send("POST", "/db/_settle/a", request)
        #expect(done.status == 201 && done.json["outcome"] == "settled", "\(done.text)")
        #expect(try client.send("GET", "/db/a?conflicts=true").json["_conflicts"] == nil)
        let again = try client.send("POST", "/db/_settle/a", request)
        #expect(again.status == 409 && again.json["leaves"] == .array([done.json["rev"] ?? .null]))
    }
}
