import Settle
import Testing

@testable import SettleServer

/// The answers of `_purge`, and its counters.
@Suite struct RouterPurgeTests {
    @Test func `each document of a purge is counted`() throws {
        let client = try RouterClient.withDatabase()
        func purges() throws -> String {
            String(try #require(try client.send("GET", "/db").json["purge_seq"]?.string).prefix { $0 != "-" })
        }
        #expect(try purges() == "0")
        let a = try #require(try client.send("PUT", "/db/a", [:]).json["rev"])
        let b = try #require(try client.send("PUT", "/db/b", [:]).json["rev"])
        _ = try client.send("POST", "/db/_purge", ["a": [a], "b": [b]])
        #expect(try purges() == "2")
        // CouchDB counts a request for a missing revision, too.
        _ = try client.send("POST", "/db/_purge", ["nope": ["1-a"]])
        #expect(try purges() == "3")
        _ = try client.send("POST", "/db/_purge", [:])
        #expect(try purges() == "3")
    }

    @Test func `the purged revisions are listed in CouchDB's order`() throws {
        let client = try RouterClient.withDatabase()
        let docs: [JSONValue] = ["c1", "c2", "c3"].map { name in
            ["_id": "x", "_rev": .string("2-\(name)"), "_revisions": ["start": 2, "ids": [.string(name), "a"]]]
        }
        _ = try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": .array(docs)])
        let answer = try client.send("POST", "/db/_purge", ["x": ["2-c3", "2-c1", "2-c2", "2-c1"]]).json
        #expect(answer["purged"]?["x"] == ["2-c1", "2-c2", "2-c3"])
    }
}
