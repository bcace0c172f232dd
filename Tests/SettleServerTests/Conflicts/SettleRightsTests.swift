import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Who may see and settle conflicts.
@Suite struct SettleRightsTests {
    private static let policy: JSONValue = ["policy": "mostRevisions", "dry_run": true]

    private func open(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> RouterClient {
        let client = try RouterClient.with(users: ["anna": [], "ben": [], "eve": []], change)
        let security: JSONValue = ["admins": ["names": ["anna"]], "members": ["names": ["ben"]]]
        #expect(try client.send("PUT", "/db/_security", security).status == 200)
        return try ConflictRoom.client(client)
    }

    @Test(arguments: [("anna:pw", 200, 200), ("ben:pw", 200, 401), ("eve:pw", 403, 403), ("", 401, 401)])
    func `members read and settle one, administrators settle many, others nothing`(
        who: String, one: Int, many: Int
    ) throws {
        let client = try open()
        #expect(try client.send(as: who, "GET", "/db/_conflicts").status == one)
        #expect(try client.send(as: who, "GET", "/db/_conflicts?values=false").status == one)
        #expect(try client.send(as: who, "GET", "/db/_info").status == many)
        #expect(try client.send(as: who, "POST", "/db/_conflicts", ["keys": ["milk"]]).status == one)
        #expect(try client.send(as: who, "GET", "/db/_conflicts/milk").status == one)
        #expect(try client.send(as: who, "POST", "/db/_settle/milk", Self.policy).status == one)
        #expect(try client.send(as: who, "POST", "/db/_settle", Self.policy).status == many)
    }

    @Test(arguments: [true, false]) func `design documents are settled by administrators`(isDryRun: Bool) throws {
        let client = try open()
        try ConflictRoom.store(
            [
                ConflictRoom.document("_design/d", ["1"], ["v": 1]),
                ConflictRoom.document("_design/d", ["2"], ["v": 2]),
            ], client)
        let request: JSONValue = ["policy": "mostRevisions", "dry_run": .bool(isDryRun)]
        #expect(try client.send(as: "ben:pw", "GET", "/db/_conflicts/_design/d").status == 200)
        let refused = try client.send(as: "ben:pw", "POST", "/db/_settle/_design/d", request)
        #expect(refused.status == 403 && refused.json["reason"] == "You are not a db or server admin.")
        #expect(
            try client.send(as: "anna:pw", "POST", "/db/_settle/_design/d", request).status == (isDryRun ? 200 : 201))
    }

    @Test func `an account in conflict is seen and settled by administrators alone, and can log in again then`() throws
    {
        let client = try RouterClient.with(users: ["ben": [], "eve": []])
        let id = "org.couchdb.user:ben"
        let own = try client.send("GET", "/_users/\(id)").json
        let first = own["_rev"]?.string?.dropFirst(2) ?? ""
        for digit in ["a", "b"] {
            var document = own
            document["_rev"] = nil
            document["color"] = .string(digit)
            document["_revisions"] = [
                "start": 2, "ids": [.string(ConflictRoom.revision(digit)), .string(String(first))],
            ]
            try ConflictRoom.store([document], client, in: "_users")
        }
        // Nobody logs in by an account whose conflict nobody has settled.
        for who in ["ben:pw", "eve:pw", ""] {
            for path in ["/_users/_conflicts", "/_users/_conflicts/\(id)"] {
                let answer = try client.send(as: who, "GET", path)
                #expect(answer.status >= 401 && !answer.text.contains("derived_key"), "\(who) \(path)")
            }
            #expect(try client.send(as: who, "POST", "/_users/_settle/\(id)", Self.policy).status >= 401)
        }
        #expect(try client.send("GET", "/_users/_conflicts/\(id)").json["leaves"]?.array?.count == 2)
        let settled = try client.send("POST", "/_users/_settle/\(id)", ["policy": "mostRevisions"])
        #expect(settled.status == 201, "\(settled.text)")
        #expect(try client.send("GET", "/_users/\(id)").json["color"] == "b")
        #expect(try client.send(as: "ben:pw", "GET", "/_session").json["userCtx"]?["name"] == "ben")
    }

    @Test func `the log has who settled what, and no dry run`() throws {
        let folder = try TemporaryFolder()
        let log = try ServerLog(format: .json, events: .file(folder("events.log")))
        let client = try open { $0.log = log }
        _ = try client.send(as: "ben:pw", "POST", "/db/_settle/milk", ["policy": "threeWayMerge", "dry_run": true])
        let settled = try client.send(as: "ben:pw", "POST", "/db/_settle/milk", ["policy": "threeWayMerge"]).json
        _ = try client.send(as: "anna:pw", "POST", "/db/_settle", ["policy": "deletesWin"])
        log.close()
        let lines = try String(contentsOfFile: folder("events.log"), encoding: .utf8).split(separator: "\n").map {
            try JSONValue(parsing: String($0))
        }.filter { $0["event"] == "settle" }
        #expect(lines.map { $0["user"] } == ["ben", "anna"] && lines.map { $0["document"] } == ["milk", "tea"])
        #expect(lines.first?["survivor"] == settled["rev"])
    }
}
