import Settle
import SettleHTTP
import Testing

@testable import SettleServer

@Suite(.timeLimit(.minutes(5))) struct ValidationScriptTests {
    private static let nobody: HTTPHeaders = ["Authorization": ""]

    private func client() throws -> RouterClient {
        let client = try RouterClient.withScripts()
        try client.design(
            "v",
            [
                "validate_doc_update": """
                function (doc, old, user, security) {
                  if (doc.bad) throw({forbidden: 'bad'});
                  if (doc.secret && user.roles.indexOf('_admin') < 0) throw({unauthorized: 'who are you'});
                  if (old && old.locked) throw({forbidden: 'locked in ' + old._rev});
                  if (doc.loop) while (true) {}
                }
                """
            ])
        return client
    }

    @Test func `every way of writing is validated`() throws {
        let client = try client()
        #expect(try client.send("PUT", "/db/a", ["bad": 1]).status == 403)
        #expect(try client.send("POST", "/db", ["bad": 1]).json["reason"] == "bad")
        #expect(try client.send("PUT", "/db/a?new_edits=false", ["_rev": "1-a", "bad": 1]).status == 403)
        let rows = try client.send("POST", "/db/_bulk_docs", ["docs": [["_id": "x", "bad": 1], ["_id": "y"]]]).json
        #expect(rows[0]?["error"] == "forbidden" && rows[1]?["ok"] == true)
        let refused = try client.send(
            "POST", "/db/_bulk_docs",
            ["new_edits": false, "docs": [["_id": "p", "_rev": "1-a", "bad": 1], ["_id": "q", "_rev": "1-b"]]])
        #expect(refused.json == [["id": "p", "rev": "1-a", "error": "forbidden", "reason": "bad"]])
        let locked = try client.send("PUT", "/db/l", ["locked": true]).json["rev"]?.string ?? ""
        #expect(try client.send("PUT", "/db/l?rev=\(locked)", [:]).json["reason"] == .string("locked in \(locked)"))
        #expect(try client.send("DELETE", "/db/l?rev=\(locked)").status == 403)
        #expect(try client.send("PUT", "/db/l/file?rev=\(locked)", bytes: [1]).status == 403)
        #expect(try client.send("PUT", "/db/c", ["bad": false]).status == 201)
        #expect(try client.send("COPY", "/db/c", headers: ["Destination": "d"]).status == 201)
        #expect(try client.send("GET", "/db/_all_docs").json["total_rows"] == 6)
        // Neither local nor design documents are validated.
        #expect(try client.send("PUT", "/db/_local/x", ["bad": 1]).status == 201)
        #expect(try client.send("PUT", "/db/_design/x", ["bad": 1]).status == 201)
    }

    @Test func `a function sees the user`() throws {
        let client = try client()
        #expect(try client.send("PUT", "/db/s", ["secret": 1]).status == 201)
        #expect(try client.send("PUT", "/db/t", ["secret": 1], headers: Self.nobody).status == 401)
    }

    @Test func `a function that is changed or deleted takes effect at once`() throws {
        let client = try client()
        let revision = try client.send("GET", "/db/_design/v").json["_rev"] ?? .null
        try client.design("v", ["_rev": revision, "validate_doc_update": "function () { throw({forbidden: 'all'}) }"])
        #expect(try client.send("PUT", "/db/a", [:]).json["reason"] == "all")
        let newest = try client.send("GET", "/db/_design/v").json["_rev"]?.string ?? ""
        #expect(try client.send("DELETE", "/db/_design/v?rev=\(newest)").status == 200)
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
    }

    @Test func `an endless function refuses, and other documents of the batch get the same error`() throws {
        let client = try RouterClient.withScripts(timeLimit: 300)
        try client.design("v", ["validate_doc_update": "function (doc) { if (doc.loop) while (true) {} }"])
        let answer = try client.send("PUT", "/db/a", ["loop": true])
        #expect(answer.status == 500 && answer.json["error"] == "os_process_error")
        #expect(try client.send("GET", "/db/a").status == 404)
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
    }

    @Test func `a server without workers writes nothing that it can't validate`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
        try client.design("v", ["validate_doc_update": "function () {}"])
        #expect(try client.send("PUT", "/db/b", [:]).status == 501)
        #expect(try client.send("GET", "/db/a").status == 200)
    }
}
