import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Replications with `winning_revs_only`, and answers about filters.
@Suite(.timeLimit(.minutes(5))) struct WinnersOnlyTests {
    private func branches(_ room: ReplicatorRoom) async throws {
        let branches: [JSONValue] = ["b", "c", "d"].map { name in
            [
                "_id": "x", "_rev": .string("2-\(name)"), "_revisions": ["start": 2, "ids": [.string(name), "a"]],
                "v": .string(name),
            ]
        }
        let body: JSONValue = ["new_edits": false, "docs": .array(branches)]
        #expect(try await room.near.ask("POST", "/a/_bulk_docs", body).status == 201)
        #expect(try await room.near.ask("PUT", "/a/y", [:]).status == 201)
    }

    private func leaves(_ room: ReplicatorRoom, _ database: String = "a") async throws -> [String] {
        let answer = try await room.far.ask("GET", "/\(database)/x?open_revs=all").json
        return (answer.array ?? []).compactMap { $0["ok"]?["_rev"]?.string }.sorted()
    }

    // SEMANTICS 207
    @Test func `only winners are replicated, under an id of its own`() async throws {
        let room = try await ReplicatorRoom()
        try await branches(room)
        let winners = try await room.replicate(["winning_revs_only": true])
        #expect(winners.status == 200 && winners.json["history"]?[0]?["docs_written"] == 2, "\(winners.text)")
        #expect(try await leaves(room) == ["2-d"])
        #expect(try await room.far.has("/a/y"))
        // The other replication has another id, so this checkpoint does not keep back its revisions.
        let all = try await room.replicate()
        #expect(all.json["history"]?[0]?["docs_written"] == 2)
        #expect(try await leaves(room) == ["2-b", "2-c", "2-d"])
        #expect(try await room.replicate(["winning_revs_only": "yes"]).status == 400)
    }

    // SEMANTICS 207
    @Test func `the ledger lists what was left until it is settled`() async throws {
        let room = try await ReplicatorRoom()
        try await branches(room)
        let begun = try await room.replicate(["winning_revs_only": true, "continuous": true])
        let id = try #require(begun.json["_local_id"]?.string).replacing("+", with: "%2B")
        func ledger() async throws -> [JSONValue] {
            try await room.near.ask("GET", "/_scheduler/ledger/\(id)").json["rows"]?.array ?? []
        }
        var rows: [JSONValue] = []
        await eventually("the ledger lists both") {
            rows = try await ledger()
            return rows.count >= 2
        }
        #expect(rows.compactMap { $0["rev"]?.string }.sorted() == ["2-b", "2-c"])
        #expect(rows.allSatisfy { $0["id"] == "x" && $0["kind"] == "losing" })
        let settled = try await room.near.ask(
            "POST", "/a/_settle/x", ["keep": "2-d", "leaves": ["2-b", "2-c", "2-d"]])
        #expect(settled.status == 201, "\(settled.text)")
        // The closing tombstones are the leaves that are left now.
        await eventually("the ledger lists it no longer") {
            try await !ledger().contains { $0["rev"] == "2-b" }
        }
        #expect(try await leaves(room).contains("2-b") == false)
    }

    @Test func `a replication with a missing filter is answered with 404`() async throws {
        let room = try await ReplicatorRoom()
        let answer = try await room.replicate(["filter": "none/f"])
        #expect(answer.status == 404 && answer.json["error"] == "not_found", "\(answer.text)")
        #expect(try await room.near.ask("PUT", "/a/_design/d", ["filters": [:]]).status == 201)
        #expect(try await room.replicate(["filter": "d/none"]).status == 404)
        // The answer about a missing database stays as before.
        let gone = try await room.near.ask(
            "POST", "/_replicate",
            ["source": room.url(room.near, "gone"), "target": room.url(room.far, "a"), "filter": "d/f"])
        #expect(gone.status == 404 && gone.json["error"] == "db_not_found", "\(gone.text)")
    }

    @Test func `a replication of documents that don't exist answers no_changes`() async throws {
        let room = try await ReplicatorRoom()
        #expect(try await room.near.ask("PUT", "/a/x", [:]).status == 201)
        for _ in 0..<2 {
            let answer = try await room.replicate(["doc_ids": ["none", "neither"]])
            #expect(answer.json == ["ok": true, "no_changes": true])
        }
        #expect(try await room.replicate(["doc_ids": ["none", "x"]]).json["docs_written"] == 1)
    }
}
