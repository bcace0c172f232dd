import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import Testing

@testable import SettleServer

/// Local documents as replicators write them.
@Suite(.timeLimit(.minutes(5))) struct RouterLocalDocumentTests {
    private static let log = "/db/_local/0b9f8e7d6c5b4a392817060504030201"

    /// A checkpoint as `couch_replicator` writes it: all members of the log, and the history of the revision read or written
    /// before.
    private func checkpoint(_ number: Int, after revision: String?) -> JSONValue {
        var members: JSONObject = ["_id": "_local/0b9f8e7d6c5b4a392817060504030201"]
        members["_rev"] = revision.map(JSONValue.string)
        members["session_id"] = .string("session\(number)")
        members["source_last_seq"] = .string("\(number)-g1AAAACheJzLYWBgYMpgTmEQTM4vTc5ISXLIyU9OzMnILy7JAUolMiTJ")
        members["replication_id_version"] = 4
        members["history"] = [["session_id": .string("session\(number)"), "recorded_seq": .string("\(number)-g1AAAA")]]
        if let number = revision?.split(separator: "-").last {
            members["_revisions"] = ["start": 0, "ids": [.string(String(number))]]
        }
        return .object(members)
    }

    @Test func `the checkpoints of a CouchDB are stored in sequence`() throws {
        let client = try RouterClient.withDatabase()
        var revision: String?
        for number in 1...4 {
            #expect(try client.send("POST", "/db/_ensure_full_commit", [:]).status == 201)
            let answer = try client.send(
                "PUT", Self.log, checkpoint(number, after: revision), headers: ["X-Couch-Full-Commit": "false"])
            #expect(answer.status == 201, "\(answer.error)")
            #expect(answer.json["rev"]?.string == "0-\(number)")
            revision = answer.json["rev"]?.string
            // The log is read again at each start.
            let read = try client.send("GET", Self.log).json
            #expect(read["_rev"]?.string == revision && read["_revisions"] == nil)
            #expect(read["session_id"] == .string("session\(number)"))
        }
    }

    @Test func `a document read with its history can be written back, in any order of members`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/_local/a", ["v": 1]).status == 201)
        for number in 2...4 {
            var read = try client.send("GET", "/db/_local/a?revs=true&meta=true").json.object ?? JSONObject()
            #expect(read["_revisions"] == ["start": 0, "ids": [.string("\(number - 1)")]])
            read["v"] = .number(JSONNumber(number))
            let answer = try client.send("PUT", "/db/_local/a", .object(read))
            #expect(answer.json["rev"]?.string == "0-\(number)", "\(answer.error)")
        }
        // As in CouchDB, the history counts, not the revision.
        let both: JSONValue = ["_revisions": ["start": 0, "ids": ["7"]], "_rev": "0-2"]
        #expect(try client.send("PUT", "/db/_local/a", both).json["rev"] == "0-8")
    }

    @Test func `each local document of a batch has its own outcome`() throws {
        let client = try RouterClient.withDatabase()
        let docs: JSONValue = [
            ["_id": "_local/a", "_rev": "0-1", "_revisions": ["start": 0, "ids": ["1"]], "v": 1],
            ["_id": "_local/b", "_rev": "1-abc", "v": 1], ["_id": "plain", "v": 1],
            ["_id": "_local/c", "_rev": "0-x"], ["_id": "_local/d", "_revisions": ["start": 0, "ids": []], "v": 2],
            ["_id": "zero", "_revisions": ["start": 0, "ids": ["1"]]],
        ]
        let answer = try client.send("POST", "/db/_bulk_docs", ["docs": docs])
        #expect(answer.status == 201, "\(answer.error)")
        let rows = answer.json.array ?? []
        try #require(rows.count == 6)
        #expect(rows[0] == ["ok": true, "id": "_local/a", "rev": "0-2"])
        let refused = { (id: String) -> JSONValue in
            ["id": .string(id), "error": "bad_request", "reason": "Invalid rev format"]
        }
        #expect(rows[1] == refused("_local/b") && rows[3] == refused("_local/c"))
        #expect(rows[2]["ok"] == true && rows[4] == ["ok": true, "id": "_local/d", "rev": "0-1"])
        #expect(rows[5]["error"] == "conflict")
        #expect(try client.send("GET", "/db/_local/b").status == 404)
        #expect(try client.send("GET", "/db/plain").status == 200)
        #expect(try client.send("PUT", "/db/_local/b", ["_rev": "1-abc"]).error == "bad_request: Invalid rev format")
    }

    @Test func `replicated revisions do not fail because of a local document in their batch`() throws {
        let client = try RouterClient.withDatabase()
        let docs: JSONValue = [
            ["_id": "_local/a", "_rev": "0-4", "_revisions": ["start": 0, "ids": ["4"]], "v": 1],
            ["_id": "_local/b", "_rev": "2-abc", "v": 1], ["_id": "plain", "_rev": "1-abc", "v": 1],
            ["_id": "zero", "_revisions": ["start": 0, "ids": ["1"]]],
        ]
        let answer = try client.send("POST", "/db/_bulk_docs", ["docs": docs, "new_edits": false])
        #expect(answer.status == 201, "\(answer.error)")
        #expect(
            answer.json == [
                ["id": "_local/b", "rev": "2-abc", "error": "bad_request", "reason": "Invalid rev format"],
                ["id": "zero", "rev": "0-1", "error": "bad_request", "reason": "Invalid rev format"],
            ])
        // CouchDB increments here, too: `local-docs--documents.json`, "that one".
        #expect(try client.send("GET", "/db/_local/a").json["_rev"] == "0-5")
        #expect(try client.send("GET", "/db/plain").status == 200)
        let single = try client.send("PUT", "/db/_local/s?new_edits=false", ["_rev": "0-1", "v": 1])
        #expect(single.status == 201 && single.json["rev"] == "0-2")
    }

    @Test(arguments: [false, true])
    func `no local document of a batch that fails as a whole is stored`(isReplicated: Bool) throws {
        let client = try RouterClient.withDatabase()
        let request = ServerRequest(
            method: "POST", target: RequestTarget("/db/_bulk_docs"), headers: HTTPHeaders(), body: BufferedBody([]))
        let context = RequestContext(
            server: client.server.state, request: request, parameters: ["db": "db"],
            user: User(name: "admin", roles: ["_admin"]), query: HTTPQuery())
        let database = try client.server.state.databases.open("db")
        let writer = try DocumentWriter(database, context)
        // A function that this server can't run comes between the check of the request and its writes.
        let function = try DocumentBody(["language": "javascript", "validate_doc_update": "function () {}"])
        _ = try database.write([DocumentEdit(id: "_design/check", parent: nil, body: function)])
        let plain = try WireDocument(id: "plain", revision: isReplicated ? WireRevision("1-abc") : nil, body: .empty)
        let documents: [DocumentWriter.Given] = [
            (id: "_local/a", document: WireDocument(id: "_local/a", body: .empty), following: FollowingContents()),
            (id: "plain", document: plain, following: FollowingContents()),
        ]
        let error = #expect(throws: HTTPError.self) {
            guard isReplicated else {
                _ = try writer.edit(documents)
                return
            }
            _ = try writer.insert(documents)
        }
        #expect(error?.status == 501)
        #expect(try client.send("GET", "/db/_local/a").status == 404)
        #expect(try client.send("GET", "/db/plain").status == 404)
    }
}
