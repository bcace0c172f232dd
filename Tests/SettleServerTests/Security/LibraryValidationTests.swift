import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettleReplication
import SettleTesting
import Testing

@testable import SettleServer

/// Validations that an app registers also apply over HTTP and to replication.
@Suite(.timeLimit(.minutes(5))) struct LibraryValidationTests {
    private static let noEvil: DocumentValidation = { context in
        if context.newRevision["evil"] != nil { throw DocumentRejection(message: "no evil here") }
        if context.newRevision["who"] != nil { throw DocumentRejection(status: 401, message: "who are you?") }
        if context.newRevision["odd"] != nil { throw DatabaseError(.invalid, "odd") }
    }

    /// A server that adds the validation to each database it opens.
    private func serve() throws -> LiveServer {
        var options = DatabaseOptions()
        options.whenOpened = { $0.addValidation("noEvil", Self.noEvil) }
        return try LiveServer(databases: options) { $0.scripts = .built }
    }

    // SEMANTICS 114, 115
    @Test func `each way of writing over HTTP is validated`() throws {
        let live = try serve()
        _ = try live.send("PUT", "/db")
        func json(_ method: String, _ path: String, _ body: String) throws -> (status: String, json: JSONValue) {
            let answer = try live.send(method, path, body)
            return (String(answer.head.split(separator: " ")[1]), try JSONValue(utf8: answer.body))
        }
        let refusal: JSONValue = ["error": "forbidden", "reason": "no evil here"]
        for (method, path) in [("PUT", "/db/a"), ("POST", "/db"), ("PUT", "/db/a?new_edits=false")] {
            let answer = try json(
                method, path,
                #"{"_rev":"1-a","evil":1}"#.replacing(path.contains("edits") ? "x" : #""_rev":"1-a","#, with: ""))
            #expect(answer.status == "403" && answer.json == refusal, "\(method) \(path)")
        }
        #expect(try json("PUT", "/db/a", #"{"who":1}"#).status == "401")
        let failed = try json("PUT", "/db/a", #"{"odd":1}"#)
        #expect(failed.status == "500" && failed.json["error"] != "forbidden")
        let rows = try json("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"b","evil":1},{"_id":"c"}]}"#).json
        #expect(rows[0]?["error"] == "forbidden" && rows[1]?["ok"] == true)
        let replicated = try json(
            "POST", "/db/_bulk_docs", #"{"new_edits":false,"docs":[{"_id":"b","_rev":"1-b","evil":1}]}"#)
        #expect(replicated.json == [["id": "b", "rev": "1-b", "error": "forbidden", "reason": "no evil here"]])
        #expect(
            try json("PUT", "/db/_design/u", #"{"updates":{"f":"function () { return [{_id:'u',evil:1},'x'] }"}}"#)
                .status == "201")
        #expect(try json("POST", "/db/_design/u/_update/f", "{}").json == refusal)
        _ = try live.send("PUT", "/db/_attribute_clocks", "true")
        let change = #"{"things":[{"id":"l","changes":[{"attribute":"evil","value":1,"timestamp":1423083473}]}]}"#
        #expect(try json("POST", "/db/_local_changes", change).json["things"]?[0]?["reason"] == "no evil here")
        #expect(try JSONValue(utf8: live.send("GET", "/db").body)["doc_count"] == 2)
    }

    // SEMANTICS 114, 117
    @Test func `a push to such a server and a pull into such a database list refusals and continue`() async throws {
        let live = try serve()
        _ = try live.send("PUT", "/db")
        let device = try TemporaryDatabase(.memory)
        for (id, body) in [("bad", ["evil": 1]), ("good", ["n": 1])] as [(String, JSONValue)] {
            let document = Document(id: try DocumentID(validating: id), body: try DocumentBody(body))
            try device.database.save(document, onConflict: .fail)
        }
        let peer = try CouchDBPeer(try HTTPURL("http://admin:admin@127.0.0.1:\(live.port)/db"))
        let pushed = try await OneWayReplicator(.push(device.database, to: peer)).run()
        #expect(pushed.counts.revisionsWritten == 1 && pushed.ledger["bad"].count == 1)
        #expect(pushed.ledger["bad"].first?.reason.contains("no evil here") == true)

        let other = try LiveServer()
        _ = try other.send("PUT", "/db")
        _ = try other.send("PUT", "/db/bad", #"{"evil":2}"#)
        _ = try other.send("PUT", "/db/fine", #"{"n":1}"#)
        device.database.addValidation("noEvil", Self.noEvil)
        let source = try CouchDBPeer(try HTTPURL("http://admin:admin@127.0.0.1:\(other.port)/db"))
        let pulled = try await OneWayReplicator(.pull(device.database, from: source)).run()
        #expect(pulled.counts.revisionsWritten == 1 && pulled.ledger["bad"].count == 1)
        #expect(try device.database.document("fine") != nil)
    }
}
