import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleScripting
import Testing

@testable import SettleServer

/// Validation functions see each stored revision, with its actual parent.
@Suite(.timeLimit(.minutes(5))) struct ValidationOrderTests {
    private func client(_ rule: String) throws -> RouterClient {
        let client = try RouterClient.withScripts()
        try client.design("v", ["validate_doc_update": .string("function (doc, old, user, security) { \(rule) }")])
        return client
    }

    private static let noEvil = "if (doc.evil) throw({forbidden: 'evil'});"

    @Test func `a deletion does not relax the validation of later documents in its batch`() throws {
        let client = try client(Self.noEvil)
        let first = try client.send("PUT", "/db/a", ["n": 1]).json["rev"] ?? .null
        let answer = try client.send(
            "POST", "/db/_bulk_docs",
            ["docs": [["_id": "a", "_rev": first, "_deleted": true], ["_id": "a", "evil": 1], ["_id": "a", "n": 2]]])
        #expect(answer.json[0]?["ok"] == true && answer.json[1]?["reason"] == "evil")
        #expect(answer.json[2]?["ok"] == true, "what is allowed is written as without a function")
        let now = try client.send("GET", "/db/a").json
        #expect(now["n"] == 2 && now["_rev"]?.string?.hasPrefix("3-") == true)
    }

    @Test func `an edit of a revision in the same batch is validated with that as the old one`() throws {
        let client = try client("if (old && doc.n !== old.n + 1) throw({forbidden: 'n was ' + old.n});")
        #expect(try client.send("PUT", "/other").status == 201)
        let predicted = try client.send("PUT", "/other/a", ["n": 1]).json["rev"] ?? .null
        let next = try client.send("PUT", "/other/a", ["n": 2, "_rev": predicted]).json["rev"] ?? .null
        let docs: JSONValue = [
            ["_id": "a", "n": 1], ["_id": "a", "_rev": predicted, "n": 2], ["_id": "a", "_rev": next, "n": 9],
        ]
        let answer = try client.send("POST", "/db/_bulk_docs", ["docs": docs]).json
        #expect(answer[0]?["ok"] == true && answer[1]?["ok"] == true && answer[2]?["reason"] == "n was 2")
        #expect(try client.send("GET", "/db/a").json["n"] == 2)
    }

    @Test func `an ancestor that follows its child is validated`() throws {
        let client = try client(Self.noEvil)
        let child: JSONValue = ["_id": "a", "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b", "a"]]]
        let ancestor: JSONValue = ["_id": "a", "_rev": "1-a", "evil": 1]
        #expect(try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": [child]]).json == [])
        let refused: JSONValue = [["id": "a", "rev": "1-a", "error": "forbidden", "reason": "evil"]]
        #expect(try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": [ancestor]]).json == refused)
        #expect(try client.send("GET", "/db/a?rev=1-a").status == 404)
        // The same in one batch.
        var (other, older) = (child, ancestor)
        (other["_id"], older["_id"]) = ("b", "b")
        let answer = try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": [other, older]])
        #expect(answer.json == [["id": "b", "rev": "1-a", "error": "forbidden", "reason": "evil"]])
        #expect(try client.send("GET", "/db/b?rev=1-a").status == 404)
    }

    @Test func `a child sees the ancestor in the same batch`() throws {
        let client = try client("if (old && old.locked) throw({forbidden: 'locked'});")
        let docs: JSONValue = [
            ["_id": "a", "_rev": "1-a", "locked": true],
            ["_id": "a", "_rev": "2-b", "_revisions": ["start": 2, "ids": ["b", "a"]]],
        ]
        let answer = try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": docs])
        #expect(answer.json == [["id": "a", "rev": "2-b", "error": "forbidden", "reason": "locked"]])
        #expect(try client.send("GET", "/db/a").json["_rev"] == "1-a")
    }

    @Test func `an ancestor stored during a validation is shown to the function when it runs again`() throws {
        let client = try client("if (old && old.locked) throw({forbidden: 'locked'});")
        let database = try client.server.state.databases.open("db")
        let (older, newer) = (try #require(RevisionSignature("a")), try #require(RevisionSignature("b")))
        let ancestor = try ReplicatedRevision(
            id: "a", history: RevisionHistory(start: 1, signatures: [older]), body: DocumentBody(["locked": true]))
        let child = try ReplicatedRevision(id: "a", history: RevisionHistory(start: 2, signatures: [newer, older]))
        let request = ServerRequest(
            method: "POST", target: RequestTarget("/db/_bulk_docs"), headers: HTTPHeaders(), body: BufferedBody([]))
        let context = RequestContext(
            server: client.server.state, request: request, parameters: ["db": "db"], user: User(name: nil, roles: []),
            query: HTTPQuery())
        var parents: [RevisionID?] = []
        let write = ValidatedWrite<ReplicatedRevision.Outcome>(
            database: database, context: context,
            view: { item in
                // No transaction is open here, and the function is called next.
                if parents.isEmpty {
                    #expect(throws: Never.self) { try database.insertReplicated([ancestor], refusingBranches: false) }
                }
                parents.append(item.key.parent)
                return .init(history: child.history, hasParent: true)
            }, refused: { .refused($0) }, isRefused: { if case .refused = $0 { true } else { false } })
        let outcomes = try write.run(["a"], try ValidationScripts(context)) { _, _, check in
            try database.insertReplicated([child], refusingBranches: false, asking: check)
        }
        #expect(parents == [nil, ancestor.history.revision])
        #expect(outcomes.count == 1 && write.isRefused(outcomes[0]))
        #expect(try client.send("GET", "/db/a").json["_rev"] == "1-a")
    }

    @Test func `changes of attributes are validated`() throws {
        let client = try client("if (doc.evil || (old && old.locked)) throw({forbidden: old ? 'locked' : 'evil'});")
        #expect(try client.send("PUT", "/db/_attribute_clocks", true).status == 200)
        func change(_ id: String, _ name: String) throws -> JSONValue {
            let change: JSONValue = ["attribute": .string(name), "value": true, "timestamp": 1_423_083_473]
            let answer = try client.send(
                "POST", "/db/_local_changes", ["things": [["id": .string(id), "changes": [change]]]])
            #expect(answer.status == 200)
            return answer.json["things"]?[0] ?? .null
        }
        #expect(try change("a", "evil")["reason"] == "evil")
        #expect(try client.send("GET", "/db/a").status == 404)
        #expect(try change("b", "locked")["changes"]?[0]?["outcome"] == "applied")
        #expect(try change("b", "name")["error"] == "forbidden")
        #expect(try client.send("GET", "/db/b").json["name"] == nil)
    }

    @Test func `a large batch with long lists of names is validated and stored`() throws {
        let client = try client("if (doc.evil) throw({forbidden: security.members.names[0]});")
        let names = JSONValue.array((0..<400).map { .string("somebody-\($0)@example.com") })
        #expect(try client.send("PUT", "/db/_security", ["members": ["names": names, "roles": []]]).status == 200)
        client.server.state.live.withLock { $0.bulkDocuments = 40_000 }
        let docs = (0..<40_000).map { number -> JSONValue in
            number == 33_333 ? ["_id": "evil", "evil": 1] : ["_id": .string("d\(number)")]
        }
        let rows = try client.send("POST", "/db/_bulk_docs", ["docs": .array(docs)]).json.array ?? []
        #expect(rows.count { $0["ok"] == true } == 39_999)
        #expect(rows.first { $0["ok"] == nil }?["reason"] == "somebody-0@example.com")
    }

    @Test func `a function can't leave data in the security object for the next document`() throws {
        let client = try client(
            """
            if (security.seen || user.seen) throw({forbidden: 'not fresh'});
            security.seen = user.seen = true; user.roles.push('x'); security.members.names.push('x');
            """)
        let answer = try client.send("POST", "/db/_bulk_docs", ["docs": [["_id": "a"], ["_id": "b"], ["_id": "c"]]])
        #expect(answer.json.array?.allSatisfy { $0["ok"] == true } == true, "\(answer.text)")
    }

    @Test func `the cost of a long security object does not grow with each document`() throws {
        let client = try client("if (security.note.length < 2000000) throw({forbidden: 'short'});")
        let note = JSONValue.string(String(repeating: "n", count: 2 << 20))
        let security: JSONValue = ["members": ["names": [], "roles": []], "note": note]
        #expect(try client.send("PUT", "/db/_security", security).status == 200)
        let docs = (0..<300).map { number -> JSONValue in ["_id": .string("d\(number)")] }
        let rows = try client.send("POST", "/db/_bulk_docs", ["docs": .array(docs)]).json.array ?? []
        #expect(rows.count { $0["ok"] == true } == 300)
    }
}
