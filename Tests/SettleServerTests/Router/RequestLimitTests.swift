import Settle
import SettleCore
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// What one request may ask for: small values take many times the memory of their text.
@Suite struct RequestLimitTests {
    private static func list(_ element: String, _ count: Int) -> String {
        "[" + [String](repeating: element, count: count).joined(separator: ",") + "]"
    }

    @Test func `a batch has at most max_bulk_docs_count documents, and an administrator may change that`() throws {
        let client = try RouterClient { $0.security.allowsLiveSettings = true }
        #expect(try client.send("PUT", "/db").status == 201)
        func write(_ count: Int) throws -> Answer {
            try client.send("POST", "/db/_bulk_docs", bytes: Array("{\"docs\":\(Self.list("{}", count))}".utf8))
        }
        #expect(try write(10_000).status == 201)
        let refused = try write(10_001)
        #expect(refused.status == 413 && refused.error == "max_bulk_docs_count_exceeded: 10000")
        let setting = "/_node/_local/_config/couchdb/max_bulk_docs_count"
        #expect(try client.send("PUT", setting, "3").json == "10000")
        #expect(try write(3).status == 201)
        #expect(try write(4).error == "max_bulk_docs_count_exceeded: 3")
        #expect(try client.send("GET", setting).json == "3")
    }

    @Test func `_bulk_get has at most max_bulk_get_count documents`() throws {
        let client = try RouterClient { $0.bulkGets = 2 }
        #expect(try client.send("PUT", "/db").status == 201)
        func get(_ count: Int) throws -> Answer {
            let list = Self.list(#"{"id":"a"}"#, count)
            return try client.send("POST", "/db/_bulk_get", bytes: Array("{\"docs\":\(list)}".utf8))
        }
        #expect(try get(2).status == 200)
        #expect(try get(3).error == "max_bulk_get_count_exceeded: 2")
    }

    @Test(arguments: [
        ("_all_docs", "keys"), ("_bulk_get", "docs"), ("_find", "selector"), ("_explain", "selector"),
        ("_changes?filter=_doc_ids", "doc_ids"), ("_revs_diff", "a"), ("_missing_revs", "a"), ("_purge", "a"),
        ("_index", "index"), ("_security", "admins"), ("_local/a", "_revisions"), ("_bulk_docs", "new_edits"),
        ("doc", "_revisions"), ("doc", "_attachments"), ("doc", "_revs_info"), ("_conflicts", "keys"),
        ("_design_docs", "keys"), ("_all_docs/queries", "queries"), ("_local_docs", "keys"),
    ])
    func `a body with more than 250,000 values is refused with 413`(path: String, member: String) throws {
        let client = try RouterClient.withDatabase()
        let method = ["_security", "doc", "_local/a"].contains(path) ? "PUT" : "POST"
        let docs = path == "_bulk_docs" ? #""docs":[],"# : ""
        let body = "{\(docs)\"\(member)\":\(Self.list("1", 250_001))}"
        let answer = try client.send(method, "/db/\(path)", bytes: Array(body.utf8))
        #expect(answer.status == 413, "\(answer.status) \(answer.error)")
    }

    @Test func `a request has at most 1,000 queries`() throws {
        let client = try RouterClient.withDatabase()
        for (count, status) in [(1000, 200), (1001, 413)] {
            let body = "{\"queries\":\(Self.list(#"{"limit":0}"#, count))}"
            #expect(try client.send("POST", "/db/_all_docs/queries", bytes: Array(body.utf8)).status == status)
        }
    }

    @Test func `a query returns at most 1,000 fields`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", ["f1": 1, "f999": 2, "g": 3]).status == 201)
        for (count, status) in [(1000, 200), (1001, 413)] {
            let fields = "[" + (0..<count).map { "\"f\($0)\"" }.joined(separator: ",") + "]"
            let body = "{\"selector\":{},\"fields\":\(fields)}"
            let answer = try client.send("POST", "/db/_find", bytes: Array(body.utf8))
            #expect(answer.status == status)
            if status == 200 { #expect(answer.json["docs"] == [["f1": 1, "f999": 2]]) }
        }
        let body = "{\"selector\":{},\"fields\":\(Self.list("\"a\"", 1001))}"
        #expect(try client.send("POST", "/db/_changes?filter=_selector", bytes: Array(body.utf8)).status == 413)
    }

    @Test func `a document may have as many values as fit into it`() throws {
        let client = try RouterClient.withDatabase()
        let body = "{\"a\":\(Self.list("1", 1_000_000))}"
        #expect(try client.send("PUT", "/db/a", bytes: Array(body.utf8)).status == 201)
    }
}
