import Settle
import SettleHTTP
import Testing

@testable import SettleServer

/// The answers at unknown paths, and to unsupported options.
@Suite struct RouterStatusTests {
    @Test(arguments: ["GET", "POST", "PUT", "DELETE", "COPY"])
    func `temporary views are gone`(method: String) throws {
        let client = try RouterClient.withDatabase()
        let answer = try client.send(method, "/db/_temp_view", ["map": "function (doc) {}"])
        #expect(answer.status == 410 && answer.error == "gone: Temporary views are not supported in CouchDB")
        #expect(try client.send(method, "/none/_temp_view", [:]).status == 404)
    }

    @Test func `an unknown endpoint below _index is missing, whatever the method`() throws {
        let client = try RouterClient.withDatabase()
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "COPY"] {
            for path in ["a", "a/json", "a/json/b/c/d"] {
                let answer = try client.send(method, "/db/_index/" + path)
                #expect(answer.status == 404 && answer.error == "not_found: missing", "\(method) \(path)")
            }
        }
        for (method, path, allow) in [
            ("PUT", "_bulk_delete", "POST"), ("GET", "_bulk_delete", "POST"), ("POST", "a/json/b", "DELETE"),
            ("GET", "_design/a/json/b", "DELETE"),
        ] {
            let answer = try client.send(method, "/db/_index/" + path)
            #expect(answer.status == 405 && answer.headers["Allow"] == allow, "\(method) \(path)")
        }
    }

    @Test func `a path of views without a name is not allowed, whatever the method`() throws {
        let client = try RouterClient.withScripts()
        try client.design("d", ["views": ["v": ["map": "function (doc) {}"]]])
        for path in ["_view", "_view/v/other", "_view/v/queries/more"] {
            for method in ["GET", "POST", "PUT", "DELETE"] {
                let answer = try client.send(method, "/db/_design/d/" + path, [:])
                #expect(answer.status == 405 && answer.headers["Allow"] == "GET,POST,HEAD", "\(method) \(path)")
            }
            #expect(try client.send("GET", "/db/_design/none/" + path).status == 404)
        }
        #expect(try client.send("GET", "/db/_design/d/_view/v/queries").headers["Allow"] == "POST")
    }

    @Test func `a path of update functions without a name is an invalid path`() throws {
        let client = try RouterClient.withScripts()
        try client.design("d", [:])
        for method in ["GET", "POST", "PUT"] {
            let answer = try client.send(method, "/db/_design/d/_update", [:])
            #expect(answer.status == 404 && answer.error == "update_error: Invalid path.", "\(method)")
            #expect(try client.send(method, "/db/_design/none/_update", [:]).error == "not_found: missing")
        }
    }

    @Test(arguments: ["GET", "PUT", "POST", "DELETE", "COPY", "HEAD"])
    func `a local document needs a name`(method: String) throws {
        let client = try RouterClient.withDatabase()
        for path in ["_local", "_local%2F"] {
            let answer = try client.send(method, "/db/" + path, [:])
            #expect(answer.status == 400)
            #expect(answer.error == "bad_request: Invalid _local document id.", "\(method) \(path)")
        }
    }

    @Test func `a batch with all_or_nothing is refused, and nothing is written`() throws {
        let client = try RouterClient.withDatabase()
        let batch: JSONValue = [
            "all_or_nothing": true,
            "docs": [["_id": "a"], ["_id": "b", "_rev": "1-0123456789abcdef0123456789abcdef"]],
        ]
        let answer = try client.send("POST", "/db/_bulk_docs", batch)
        let told = ["error": "not_implemented", "reason": "all_or_nothing is not supported"] as JSONValue
        var (first, second) = (told, told)
        (first["id"], first["rev"]) = ("a", "0-")
        (second["id"], second["rev"]) = ("b", "1-0123456789abcdef0123456789abcdef")
        #expect(answer.status == 417)
        #expect(answer.json.array?.count == 2)
        for (row, expected) in zip(answer.json.array ?? [], [first, second]) {
            for name in ["id", "rev", "error", "reason"] { #expect(row[name] == expected[name]) }
        }
        #expect(try client.send("GET", "/db").json["doc_count"] == 0)
        for value in [false, "true", 1, nil] as [JSONValue] {
            let other = try client.send("POST", "/db/_bulk_docs", ["all_or_nothing": value, "docs": [["v": 1]]])
            #expect(other.status == 201)
        }
        // Replicated revisions are stored one by one in any case.
        let replicated: JSONValue = [
            "all_or_nothing": true, "new_edits": false,
            "docs": [["_id": "r", "_rev": "1-0123456789abcdef0123456789abcdef"]],
        ]
        #expect(try client.send("POST", "/db/_bulk_docs", replicated).status == 201)
    }
}
