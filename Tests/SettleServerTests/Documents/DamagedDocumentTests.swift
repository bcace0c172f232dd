import Settle
import SettleDatabase
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// A damaged row affects only its own document.
@Suite(.timeLimit(.minutes(5))) struct DamagedDocumentTests {
    /// A client whose database has three documents, of which `bad` is damaged.
    private func client(_ damage: Damage) throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        for id in ["a", "bad", "c"] {
            let put = try client.send(
                "PUT", "/db/\(id)", ["n": 1, "_attachments": ["f": ["data": "AAEC", "content_type": "image/x"]]])
            #expect(put.status == 201)
        }
        try damage.strike("bad", in: client.server.state.databases.open("db"))
        return client
    }

    @Test(arguments: Damage.allCases)
    func `reading a damaged document gives an error that names it and a remedy`(damage: Damage) throws {
        let client = try client(damage)
        for path in ["/db/bad", "/db/bad?attachments=true", "/db/bad?open_revs=all", "/db/bad/f"] {
            let answer = try client.send("GET", path)
            #expect(answer.status == 500 && answer.json["error"] == "damaged_document", "\(path) \(answer.text)")
            let reason = answer.json["reason"]?.string ?? ""
            #expect(reason.contains("\"bad\"") && reason.contains("purge"), "\(reason)")
        }
    }

    @Test(arguments: Damage.allCases)
    func `lists and feeds skip a damaged document`(damage: Damage) throws {
        let client = try client(damage)
        for path in [
            "_all_docs", "_all_docs?include_docs=true", "_all_docs?include_docs=true&descending=true",
            "_all_docs?include_docs=true&attachments=true",
        ] {
            let answer = try client.send("GET", "/db/\(path)")
            let rows = answer.json["rows"]?.array ?? []
            #expect(rows.filter { $0["id"] == "a" || $0["id"] == "c" }.count == 2, "\(path) \(answer.text)")
            #expect(rows.allSatisfy { $0["id"] != "bad" || $0["doc"]?.isNull ?? true }, "\(path) \(answer.text)")
        }
        let keys = try client.send("POST", "/db/_all_docs?include_docs=true", ["keys": ["a", "bad", "c"]])
        #expect(keys.json["rows"]?.array?.count == 3, "\(keys.text)")
        #expect(keys.json["rows"]?[1]?["error"] == "damaged_document", "\(keys.text)")
        for query in ["", "?include_docs=true", "?style=all_docs", "?descending=true&include_docs=true"] {
            let answer = try client.send("GET", "/db/_changes\(query)")
            let ids = answer.json["results"]?.array?.compactMap { $0["id"]?.string } ?? []
            #expect(Set(ids).isSuperset(of: ["a", "c"]) && answer.json["last_seq"] != nil, "\(query) \(answer.text)")
        }
        let chosen = try client.send(
            "POST", "/db/_changes?filter=_selector&style=all_docs", ["selector": ["n": 1]])
        #expect(chosen.json["results"]?.array?.count == 2, "\(chosen.text)")
    }

    @Test(arguments: Damage.allCases)
    func `queries and their indexes skip a damaged document`(damage: Damage) throws {
        let client = try client(damage)
        func found() throws -> [String] {
            let answer = try client.send("POST", "/db/_find", ["selector": ["n": 1]])
            return answer.json["docs"]?.array?.compactMap { $0["_id"]?.string } ?? [answer.text]
        }
        #expect(try found() == ["a", "c"])
        #expect(try client.send("POST", "/db/_index", ["index": ["fields": ["n"]]]).status == 200)
        #expect(try found() == ["a", "c"])
        // A document damaged after it was indexed.
        try damage.strike("c", in: client.server.state.databases.open("db"))
        #expect(try found() == ["a"])
    }

    @Test(arguments: Damage.allCases)
    func `views skip a damaged document`(damage: Damage) throws {
        let client = try RouterClient.withScripts()
        try client.load([
            ["_id": "a", "_attachments": ["f": ["data": "AAEC"]]],
            ["_id": "b", "_attachments": ["f": ["data": "AAEC"]]],
        ])
        try damage.strike("b", in: client.server.state.databases.open("db"))
        try client.design("d", ["views": ["v": ["map": "function(doc) { emit(doc._id, {_id: 'b'}) }"]]])
        let rows = try client.send("GET", "/db/_design/d/_view/v?include_docs=true")
        #expect(rows.json["rows"]?.array?.count == 1 && rows.json["rows"]?[0]?["id"] == "a", "\(rows.text)")
        try damage.strike("a", in: client.server.state.databases.open("db"))
        #expect(try client.send("PUT", "/db/z", [:]).status == 201)
        #expect(try client.send("GET", "/db/_design/d/_view/v").status == 200)
    }

    @Test(arguments: Damage.allCases)
    func `in a request for many documents only the damaged one is an error`(damage: Damage) throws {
        let client = try client(damage)
        let docs: JSONValue = ["docs": [["id": "a"], ["id": "bad"], ["id": "c"]]]
        let answer = try client.send("POST", "/db/_bulk_get", docs)
        #expect(
            answer.json["results"]?.array?.compactMap { $0["docs"]?[0]?["ok"]?["_id"] } == ["a", "c"], "\(answer.text)")
        #expect(answer.json["results"]?[1]?["docs"]?[0]?["error"]?["error"] == "damaged_document", "\(answer.text)")
        let parts = try client.send("POST", "/db/_bulk_get", docs, headers: ["Accept": "multipart/mixed"])
        #expect(parts.text.contains(#""_id":"c""#) && parts.text.contains("damaged_document"), "\(parts.text)")
        let revs = try client.send("POST", "/db/_revs_diff", ["a": ["1-x"], "bad": ["1-x"], "c": ["1-x"]])
        #expect(revs.json["a"] != nil && revs.json["c"] != nil, "\(revs.text)")
        let written = try client.send(
            "POST", "/db/_bulk_docs", ["docs": [["_id": "a1"], ["_id": "bad"], ["_id": "c1"]]])
        #expect(written.json.array?.count { $0["ok"] == true } == 2, "\(written.text)")
        let brought = try client.send(
            "POST", "/db/_bulk_docs",
            [
                "new_edits": false,
                "docs": [["_id": "a2", "_rev": "1-a"], ["_id": "bad", "_rev": "1-a"], ["_id": "c2", "_rev": "1-a"]],
            ])
        #expect(brought.status == 201, "\(brought.text)")
        #expect(try client.send("GET", "/db/c2").status == 200)
    }

    @Test(arguments: Damage.allCases)
    func `a damaged document is purged, and its id is free again`(damage: Damage) throws {
        let client = try client(damage)
        let revision = try #require(try client.send("GET", "/db/a").json["_rev"])
        let purge = try client.send("POST", "/db/_purge", ["bad": [revision]])
        #expect(purge.status == 201 && purge.json["purged"]?["bad"] == [revision], "\(purge.text)")
        #expect(try client.send("GET", "/db/bad").status == 404)
        #expect(try client.send("PUT", "/db/bad", [:]).status == 201)
    }

    @Test(arguments: [Damage.length, .attachments])
    func `a damaged document is deleted or replaced on its revision`(damage: Damage) throws {
        let client = try client(damage)
        try damage.strike("c", in: client.server.state.databases.open("db"))
        let revision = try #require(try client.send("GET", "/db/a").json["_rev"]?.string)
        let deletion = try client.send("DELETE", "/db/bad?rev=\(revision)")
        #expect(deletion.status == 200, "\(deletion.text)")
        #expect(try client.send("GET", "/db/bad").error == "not_found: deleted")
        let edit = try client.send("PUT", "/db/c?rev=\(revision)", ["n": 2])
        #expect(edit.status == 201, "\(edit.text)")
        #expect(try client.send("GET", "/db/c").json["n"] == 2)
        #expect(try client.server.state.databases.open("db").verify().problems == [])
    }

    @Test(arguments: Damage.allCases)
    func `a damaged replication document does not stop the others`(damage: Damage) async throws {
        let room = try await ReplicatorRoom()
        _ = try await room.near.ask("PUT", "/a/doc", ["n": 1])
        let orders = try room.near.server.state.databases.open("_replicator")
        let file = try orders.makeAttachment("f", content: [0, 1, 2])
        try orders.save(
            Document(id: "bad", body: ["source": "nowhere", "target": "nowhere"], attachments: [file]),
            onConflict: .fail)
        try damage.strike("bad", in: orders)
        // All documents are read from the beginning, as when a server starts.
        #expect(try orders.changes(includingDocuments: true).count >= 0)
        #expect(try await room.order("good").status == 201)
        await room.wait("good", for: "completed")
        #expect(try await room.far.ask("GET", "/a/doc").json["n"] == 1)
        #expect(try await room.near.ask("GET", "/_scheduler/docs/_replicator").status == 200)
    }
}
