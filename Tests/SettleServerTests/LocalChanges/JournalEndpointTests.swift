import Settle
import SettleDatabase
import SettleTesting
import Testing

@testable import SettleServer

/// `_journal`: what was changed here, and undoing it.
@Suite struct JournalEndpointTests {
    private func client() throws -> RouterClient {
        var options = DatabaseOptions()
        options.journal = true
        let client = try RouterClient(
            store: { [options] in try DocumentStore(path: $0.path, options: options) }, { _ in })
        #expect(try client.send("PUT", "/db").status == 201)
        let rev = try client.send("PUT", "/db/milk", ["count": 1]).json["rev"] ?? .null
        #expect(try client.send("PUT", "/db/milk", ["_rev": rev, "count": 2]).status == 201)
        #expect(try client.send("PUT", "/db/tea", ["name": "Tea"]).status == 201)
        return client
    }

    @Test func `the journal has operations and what is pending`() throws {
        let client = try client()
        let told = try client.send("GET", "/db/_journal").json
        #expect(
            told["count"] == 3 && told["history"]?.array?.map { $0["operation"] } == ["CREATE", "UPDATE", "CREATE"])
        #expect(told["history"]?[1]?["old"] == ["count": 1] && told["history"]?[1]?["new"] == ["count": 2])
        #expect(told["pending"]?.array?.map { $0["id"] } == ["milk", "tea"])
        #expect(try client.send("GET", "/db/_journal?id=tea").json["history"]?.array?.count == 1)
        #expect(try client.send("GET", "/db/_journal?limit=1").json["history"]?[0]?["id"] == "tea")
        #expect(try client.send("GET", "/db/_journal?after=1&limit=1").json["history"]?[0]?["operation"] == "UPDATE")
        #expect(try client.send("GET", "/db/_journal?limit=x").status == 400)
    }

    @Test func `what is read is bounded, also of one document and after a number`() throws {
        let client = try client()
        let first = try client.send("GET", "/db/_journal?limit=1").json
        #expect(first["pending"]?.array?.map { $0["id"] } == ["milk"] && first["count"] == 3)
        let later = try client.send("GET", "/db/_journal?id=milk&after=1").json["history"]
        #expect(later?.array?.map { $0["operation"] } == ["UPDATE"])
    }

    @Test func `administrators switch the journal while the database is in use`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
        #expect(try client.send("PUT", "/db/_journal", true).status == 200)
        #expect(try client.send("GET", "/db/_journal").json["count"] == 0)
        #expect(try client.send("PUT", "/db/b", [:]).status == 201)
        #expect(try client.send("GET", "/db/_journal").json["pending"]?.array?.map { $0["id"] } == ["b"])
        #expect(try client.send("PUT", "/db/_journal", false).status == 200)
        #expect(try client.send("GET", "/db/_journal").status == 412)
        #expect(try client.send("PUT", "/db/_journal", 1).status == 400)
        #expect(try client.send("PUT", "/_users").status == 201)
        #expect(try client.send("PUT", "/_users/org.couchdb.user:ben", RouterClient.user("ben")).status == 201)
        #expect(try client.send("PUT", "/db/_security", ["members": ["names": ["ben"]]]).status == 200)
        #expect(try client.send(as: "ben:pw", "PUT", "/db/_journal", true).status == 401)
    }

    @Test func `operations are undone, of one document or the newest`() throws {
        let client = try client()
        let one = try client.send("POST", "/db/_journal/_undo", ["count": 1])
        #expect(one.json["undone"]?.array?.map { $0["id"] } == ["tea"])
        #expect(try client.send("GET", "/db/tea").status == 404)
        #expect(try client.send("POST", "/db/_journal/_undo", ["id": "milk"]).json["undone"]?.array?.count == 2)
        #expect(try client.send("GET", "/db/milk").status == 404)
        for wrong: JSONValue in [[:], ["count": 0], ["id": "a", "count": 1], ["all": true]] {
            #expect(try client.send("POST", "/db/_journal/_undo", wrong).status == 400)
        }
    }

    @Test func `a database without a journal says so`() throws {
        let answer = try RouterClient.withDatabase().send("GET", "/db/_journal")
        #expect(answer.status == 412 && answer.json["error"] == "precondition_failed")
    }
}
