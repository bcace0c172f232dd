import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct RouterErrorTests {
    @Test(arguments: [
        ("POST", "/", 405, "method_not_allowed: Only GET,HEAD allowed"),
        ("GET", "/none", 404, "not_found: Database does not exist."),
        ("GET", "/none/a", 404, "not_found: Database does not exist."),
        ("PATCH", "/none/a", 404, "not_found: Database does not exist."),
        ("PUT", "/Bad", 400, "illegal_database_name: "),
        ("PUT", "/db", 412, "file_exists: "),
        ("GET", "/db/a", 404, "not_found: missing"),
        ("PATCH", "/db/a", 405, "method_not_allowed: Only DELETE,GET,HEAD,POST,PUT,COPY allowed"),
        ("PUT", "/db/_bad", 400, "illegal_docid: Only reserved document ids may start with underscore."),
        ("GET", "/db/a?rev=x", 400, "bad_request: Invalid rev format"),
        ("GET", "/db/a/b", 404, "not_found: missing"),
        ("GET", "/db/_local", 400, "bad_request: Invalid _local document id."),
        ("POST", "/db/_bulk_docs", 415, "bad_content_type: Content-Type must be application/json"),
        ("POST", "/db/_find", 415, "bad_content_type: Content-Type must be application/json"),
        ("PUT", "/db/_index", 405, "method_not_allowed: Only GET,POST allowed"),
        ("GET", "/db/_index/_bulk_delete", 405, "method_not_allowed: Only POST allowed"),
        ("GET", "/db/_index/a/json/b", 405, "method_not_allowed: Only DELETE allowed"),
        ("DELETE", "/db/_index/a/json", 404, "not_found: missing"),
        ("GET", "/db/_design/d/_view/v", 501, "not_implemented: this server runs no scripts, and so has no views"),
        ("GET", "/db/_changes?filter=a/b", 404, "not_found: missing"),
        ("GET", "/db/_changes?since=x", 400, "bad_request: Malformed sequence supplied in 'since' parameter."),
        ("GET", "/_uuids?count=1001", 400, "bad_request: count parameter too large"),
    ])
    func `errors have CouchDB's names and statuses`(
        method: String, path: String, status: Int, error: String
    ) throws {
        let answer = try RouterClient.withDatabase().send(method, path)
        #expect(answer.status == status)
        #expect(answer.error.hasPrefix(error))
        #expect(answer.text.hasSuffix("\n"))
        if status == 405 { #expect(answer.headers["Allow"] != nil) }
    }

    @Test func `a body that is not JSONValue is refused as such`() throws {
        let client = try RouterClient.withDatabase()
        for text in ["", "{", "{\"a\":1}x", "\u{7F}"] {
            let answer = try client.send("PUT", "/db/a", bytes: Array(text.utf8))
            #expect(answer.status == 400 && answer.error == "bad_request: invalid UTF-8 JSON")
        }
        #expect(try client.send("PUT", "/db/a", [1]).error == "bad_request: Document must be a JSON object")
    }

    @Test func `a document too large is refused, and its batch with it`() throws {
        let client = try RouterClient { $0.largestDocument = 100 }
        _ = try client.send("PUT", "/db")
        let large: JSONValue = ["_id": "big", "text": .string(String(repeating: "x", count: 100))]
        let alone = try client.send("PUT", "/db/big", large)
        #expect(alone.status == 413 && alone.error == "document_too_large: big")
        #expect(try client.send("POST", "/db/_bulk_docs", ["docs": [["_id": "a"], large]]).status == 413)
        #expect(try client.send("GET", "/db/a").status == 404)
    }

    @Test func `a body over the memory limit is refused`() throws {
        let client = try RouterClient { $0.largestBody = 100 }
        _ = try client.send("PUT", "/db")
        let answer = try client.send("POST", "/db/_bulk_docs", ["docs": [.string(String(repeating: "x", count: 100))]])
        #expect(answer.status == 413 && answer.error.hasPrefix("too_large: "))
    }

    @Test(arguments: [
        "_all_docs?skip=9223372036854775807&limit=576460752303423487", "_all_docs?skip=9223372036854775807&key=%22a%22",
        "_changes?limit=9223372036854775807", "_changes?since=9223372036854775807",
        "_changes?feed=continuous&timeout=9223372036854775807&heartbeat=9223372036854775807&limit=1",
        "a?rev=9223372036854775807-a", "a?rev=18446744073709551616-a", "a?open_revs=[%229223372036854775807-a%22]",
        "_local_docs?skip=9223372036854775807",
    ])
    func `extreme numbers are handled`(path: String) throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/_revs_limit", 9_223_372_036_854_775_807)
        _ = try client.send("PUT", "/db/a", ["_rev": nil])
        let doc: JSONValue = ["_id": "a", "_revisions": ["start": 9_223_372_036_854_775_807, "ids": ["a", "b"]]]
        #expect(try client.send("POST", "/db/_bulk_docs", ["new_edits": false, "docs": [doc]]).status == 201)
        #expect(try client.send("PUT", "/db/a?rev=9223372036854775807-a", [:]).status == 400)
        #expect(try client.send("PUT", "/db/_local/l", ["_rev": "0-9223372036854775807"]).status == 400)
        #expect(try client.send("GET", "/db/\(path)").status < 500)
    }

    @Test func `a gzip body is expanded within bounds`() throws {
        let client = try RouterClient { $0.largestBody = 100 }
        _ = try client.send("PUT", "/db")
        let answer = try client.send(
            "PUT", "/db/a", bytes: [1, 2, 3], headers: ["Content-Encoding": "gzip"])
        #expect(answer.status == 400)
    }

    @Test func `the server's own errors do not reveal the places of its files`() throws {
        let client = try RouterClient.withDatabase()
        client.server.state.databases.closeAll()
        let path = client.folder("db.settle/database.sqlite")
        try Data("this is no database, whatever it is called".utf8).write(to: URL(fileURLWithPath: path))
        let answer = try client.send(as: "", "GET", "/db")
        #expect(answer.status == 500 && !answer.text.contains("/") && !answer.text.contains("sqlite"), "\(answer.text)")
    }

    @Test func `a name that is not UTF-8 is refused where it would be written`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/a", [:])
        let id = "illegal_docid: Document id must be valid UTF-8"
        for path in ["/db/%FF", "/db/_design/%C3", "/db/_local/%C3%28", "/db/%FE/x"] {
            #expect(try client.send("PUT", path, [:]).error == id)
        }
        #expect(try client.send("COPY", "/db/a", headers: ["Destination": "%FF"]).error == id)
        let name = "bad_request: Attachment name is not UTF-8 encoded"
        for path in ["/db/b/%FF", "/db/b/x/%FF", "/db/_design/b/%FF"] {
            #expect(try client.send("PUT", path, [:]).error == name)
        }
        #expect(try client.send("GET", "/db/%FF").status == 404)
        #expect(try client.send("PUT", "/db/%C3%A4%2Fb/%C3%A4", [:]).status == 201)
    }

    @Test func `a gzip body that is cut off is not taken for a complete one`() throws {
        let client = try RouterClient.withDatabase()
        let gzip = try Gzip(.compress)
        var bytes: [UInt8] = []
        try Array("{\"a\":1}".utf8).withUnsafeBytes { try gzip.process($0, isLast: true) { bytes += $0 } }
        let headers: HTTPHeaders = ["Content-Encoding": "gzip"]
        let cut = try client.send("PUT", "/db/a", bytes: Array(bytes.dropLast(4)), headers: headers)
        #expect(cut.status == 400)
        #expect(try client.send("PUT", "/db/a", bytes: bytes, headers: headers).status == 201)
        let other = try client.send("PUT", "/db/b", [:], headers: ["Content-Encoding": "br"])
        #expect(other.status == 415 && other.error == "bad_content_type: br is not a supported content encoding.")
    }
}
