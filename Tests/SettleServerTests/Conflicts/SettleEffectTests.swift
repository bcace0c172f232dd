import Settle
import SettleDatabase
import Testing

@testable import SettleServer

/// What `_settle` and `_conflicts` say of the result and of what is lost.
@Suite struct SettleEffectTests {
    private func rehearse(_ client: RouterClient, _ id: String, _ request: JSONValue) throws -> JSONValue {
        var request = request
        request["dry_run"] = true
        let answer = try client.send("POST", "/db/_settle/\(id)", request)
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json["effect"] ?? .null
    }

    private func paths(_ effect: JSONValue, _ kind: String) -> [JSONValue] {
        (effect["lost"]?.array ?? []).filter { $0["kind"] == .string(kind) }.compactMap { $0["path"] }
    }

    @Test func `a dry run has the result of each member, its sources and what is lost`() throws {
        let client = try ConflictRoom.client()
        let rules: JSONValue = ["name": "threeWayMerge", "rules": ["/count": "sum", "/tags": "union"]]
        let effect = try rehearse(client, "milk", ["policy": rules])
        #expect(effect["outcome"] == "merges" && effect["words"] == "merges 3 leaves, 3 clashes")
        let count = effect["rows"]?.array?.first { $0["path"] == "/count" }
        let (first, second) = ("2-" + ConflictRoom.revision("b"), "2-" + ConflictRoom.revision("a"))
        #expect(count?["base"] == 1 && count?["result"] == 4 && count?["clash"] == true)
        #expect(count?["from"] == [.string(first), .string(second)])
        #expect(count?["values"]?.array?.compactMap { $0["value"] } == [2, 3, 1])
        #expect(paths(effect, "value") == ["/name"] && effect["lost"]?[0]?["value"] == "Soy milk")
        #expect(effect["lost_count"] == 1 && effect["row_count"] == 4 && effect["base_known"] == true)
    }

    @Test func `a pick is in the result, and what it replaces is lost`() throws {
        let client = try ConflictRoom.client()
        let picks: JSONValue = ["/name": ["rev": .string("2-" + ConflictRoom.revision("0"))]]
        let effect = try rehearse(
            client, "milk", ["policy": "threeWayMerge", "picks": picks, "leaves": ConflictRoom.leaves])
        let name = effect["rows"]?.array?.first { $0["path"] == "/name" }
        #expect(name?["result"] == "Soy milk" && name?["picked"] == true && name?["reason"] == "picked")
        #expect(effect["lost"]?.array?.contains { $0["value"] == "Oat milk" } == true)
        #expect(effect["lost"]?.array?.contains { $0["value"] == "Soy milk" } == false)
    }

    @Test func `keeping and deleting say what they do`() throws {
        let client = try ConflictRoom.client()
        let kept = "2-" + ConflictRoom.revision("a")
        let keep = try rehearse(client, "milk", ["keep": .string(kept), "leaves": ConflictRoom.leaves])
        #expect(keep["outcome"] == "keeps" && keep["keeps"] == .string(kept))
        #expect(keep["words"] == .string("keeps \(kept)"))
        #expect(paths(keep, "value") == ["/name", "/count", "/tags", "/name"])
        let delete = try rehearse(client, "milk", ["delete": true, "leaves": ConflictRoom.leaves])
        #expect(delete["outcome"] == "deletes" && delete["words"] == "deletes the document, with 4 members")
        #expect(paths(delete, "document") == [""])
        #expect(delete["rows"]?.array?.allSatisfy { $0["result"] == nil } == true)
        let tea = try rehearse(client, "tea", ["policy": "deletesWin"])
        #expect(tea["outcome"] == "deletes" && paths(tea, "value") == ["/name"])
        let alive: JSONValue = [
            "keep": .string("2-" + ConflictRoom.revision("c")),
            "leaves": .array(["c", "d"].map { .string("2-" + ConflictRoom.revision($0)) }),
        ]
        #expect(try paths(rehearse(client, "tea", alive), "deletion") == [""])
    }

    @Test func `the answer has the effect of each policy that settles, and why others do not`() throws {
        let client = try ConflictRoom.client()
        for id in ["milk", "tea"] {
            let told = try client.send("GET", "/db/_conflicts/\(id)?policies=true&tree=none").json
            let rows = told["policies"]?.array ?? []
            #expect(rows.map { $0["name"]?.string } == ReadyPolicy.all.map(\.name))
            for row in rows {
                let name = row["name"]?.string ?? ""
                let dry = try client.send(
                    "POST", "/db/_settle/\(id)", ["policy": .string(name), "dry_run": true]
                ).json
                #expect((row["settles"] == true) == (dry["outcome"] == "settled"), "\(id), \(name)")
                #expect(
                    row["settles"] == true ? row["effect"] == dry["effect"] : row["reason"] != nil, "\(id), \(name)")
            }
        }
        #expect(try client.send("GET", "/db/_conflicts/milk").json["policies"] == nil)
        #expect(try client.send("GET", "/db/_conflicts/milk?policies=some").status == 400)
    }

    @Test func `attachments are told, picked and lost by their names`() throws {
        let client = try RouterClient.withDatabase()
        func document(_ digits: [String], _ data: String) -> JSONValue {
            let photo: JSONValue = ["content_type": "image/png", "data": .string(data)]
            return ConflictRoom.document("d", digits, ["n": 1, "_attachments": ["photo": photo]])
        }
        try ConflictRoom.store(
            [document(["1"], "AAAA"), document(["b", "1"], "BBBB"), document(["a", "1"], "CCCCCCCC")], client)
        let effect = try rehearse(client, "d", ["policy": "threeWayMerge"])
        #expect(effect["rows"]?.array?.map { $0["path"] } == ["/_attachments/photo"])
        #expect(paths(effect, "attachment") == ["/_attachments/photo"])
        let leaf = "2-" + ConflictRoom.revision("a")
        let picks: JSONValue = ["/_attachments/photo": ["rev": .string(leaf)]]
        let leaves: JSONValue = .array(["b", "a"].map { .string("2-" + ConflictRoom.revision($0)) })
        let picked = try rehearse(client, "d", ["policy": "threeWayMerge", "picks": picks, "leaves": leaves])
        #expect(picked["rows"]?[0]?["result"]?["length"] == 6 && picked["rows"]?[0]?["from"] == [.string(leaf)])
    }

    @Test func `a rehearsal of many says what is deleted, and a run without that right leaves it`() throws {
        let client = try ConflictRoom.client()
        let rehearsal = try client.send(
            "POST", "/db/_settle", ["policy": "deletesWin", "kind": "all", "dry_run": true])
        let rows = rehearsal.json["rows"]?.array ?? []
        #expect(rows.map { $0["id"] } == ["milk", "tea"])
        #expect(rows.map { $0["effect"]?["outcome"] } == ["keeps", "deletes"])
        #expect(rows[1]["effect"]?["lost_count"] == 2)
        let careful: JSONValue = ["policy": "deletesWin", "kind": "all", "may_delete": false]
        let run = try client.send("POST", "/db/_settle", careful).json
        #expect(run["rows"]?.array?.map { $0["outcome"] } == ["settled", "left"])
        #expect(run["rows"]?[0]?["effect"]?["outcome"] == "keeps")
        #expect(try client.send("GET", "/db/tea").status == 200)
        let rest = try client.send("POST", "/db/_settle", ["policy": "deletesWin", "kind": "all"]).json
        #expect(rest["rows"]?[0]?["effect"] == ["outcome": "deletes"])
        #expect(try client.send("GET", "/db/tea").status == 404)
        #expect(try client.send("POST", "/db/_settle", ["policy": "deletesWin", "may_delete": 1]).status == 400)
    }

    @Test func `values past the bound are named, and counted with all others`() throws {
        let client = try RouterClient.withDatabase()
        try ConflictRoom.store(
            ["1", "2", "3", "4"].map { digit in
                let text = String(repeating: digit, count: 6 << 20)
                return ConflictRoom.document("a", [digit], ["text": .string(text), "n": .string(digit)])
            }, client)
        let answer = try client.send("POST", "/db/_settle/a", ["policy": "mostRevisions", "dry_run": true])
        let effect = answer.json["effect"]
        #expect(answer.body.count < 34 << 20)
        #expect(effect?["lost_count"] == 6 && effect?["lost"]?.array?.count == 6 && effect?["row_count"] == 2)
        #expect(effect?["lost"]?.array?.map { $0["omitted"] != nil } == [false, false, false, false, true, false])
        let told = try client.send("GET", "/db/_conflicts/a?policies=true&docs=false&tree=none").json
        #expect(told["policies"]?.array?.allSatisfy { $0["omitted"] == true } == true)
    }
}
