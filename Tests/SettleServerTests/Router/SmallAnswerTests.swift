import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import Testing

@testable import SettleServer

/// Answers that clients of CouchDB rely on, each of few requests.
@Suite struct SmallAnswerTests {
    private static let hello = Array("hello".utf8)

    private func put(_ client: RouterClient, _ path: String, _ headers: HTTPHeaders) throws -> Answer {
        var headers = headers
        headers["Content-Type"] = headers["Content-Type"] ?? "text/plain"
        return try client.send("PUT", path, bytes: Self.hello, headers: headers)
    }

    @Test func `an attachment that is not what Content-MD5 says is refused`() throws {
        let client = try RouterClient.withDatabase()
        for (given, status) in [
            ("XUFAKrxLKna5cZ2REBfFkg==", 201), (" XUFAKrxLKna5cZ2REBfFkg== ", 201), ("AAAAAAAAAAAAAAAAAAAAAA==", 400),
            ("no", 400), ("", 400),
        ] {
            let id = try client.send("GET", "/_uuids").json["uuids"]?[0]?.string ?? ""
            let answer = try put(client, "/db/\(id)/x", ["Content-MD5": given])
            #expect(answer.status == status, "\(given)")
            #expect(try client.send("GET", "/db/\(id)").status == (status == 201 ? 200 : 404))
            if status == 400 { #expect(answer.error == "content_md5_mismatch: Possible message corruption.") }
        }
    }

    @Test func `a write with If-None-Match star changes no existing document or attachment`() throws {
        let client = try RouterClient.withDatabase()
        let creation: HTTPHeaders = ["If-None-Match": "*"]
        let made = try client.send("PUT", "/db/a", ["v": 1], headers: creation)
        let revision = made.json["rev"]?.string ?? ""
        #expect(made.status == 201)
        #expect(try client.send("PUT", "/db/a", ["v": 2], headers: creation).status == 409)
        let changed = try client.send("PUT", "/db/a?rev=\(revision)", ["v": 2], headers: creation)
        #expect(changed.status == 412 && changed.error == "precondition_failed: The document exists already.")
        #expect(try client.send("GET", "/db/a").json["_rev"]?.string == revision)
        let added = try put(client, "/db/a/x?rev=\(revision)", creation)
        let second = added.json["rev"]?.string ?? ""
        #expect(added.status == 201)
        #expect(try put(client, "/db/a/x?rev=\(second)", creation).status == 412)
        let deleted = try client.send("DELETE", "/db/a?rev=\(second)")
        #expect(deleted.status == 200)
        #expect(try client.send("PUT", "/db/a", ["v": 3], headers: creation).status == 201)
    }

    @Test func `a database ignores the options of clusters`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/p?partitioned=true&q=2&n=3").status == 201)
        #expect(try client.send("GET", "/p").json["props"] == [:])
        #expect(try client.send("PUT", "/r?partitioned=maybe").status == 400)
    }

    @Test(arguments: ["GET", "PUT", "POST", "DELETE", "COPY", "OPTIONS", "TRACE", "CONNECT", "PATCH"])
    func `only indexes are found below _index`(method: String) throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send(method, "/db/_index/a").status == 404)
        #expect(try client.send(method, "/db/_index/a/json").status == 404)
    }

    @Test func `the version of the collation has the form of ICU's version in CouchDB`() throws {
        let client = try RouterClient.withScripts()
        try client.design("d", ["views": ["v": ["map": "function (d) { emit(d._id) }"]]])
        let info = try client.send("GET", "/db/_design/d/_info").json["view_index"]
        #expect(info?["collator_versions"] == ["153.120"])
        let versions = try client.send("GET", "/_node/_local/_versions").json
        #expect(versions["collation_driver"]?["collator_version"] == "153.120")
    }

    @Test(arguments: ["/_nope", "/_nope/deeper", "/_uuids/more", "/_up/more", "/_scheduler", "/_global_changes/x"])
    func `an unknown endpoint of the server is for administrators`(path: String) throws {
        let client = try RouterClient.with(users: ["anna": []])
        for credentials in ["", "anna:pw"] {
            let answer = try client.send(as: credentials, "GET", path)
            #expect(answer.status == 401, "\(credentials)")
            #expect(answer.error == "unauthorized: You are not a server admin.")
        }
        #expect(try client.send("GET", path).status == 404)
    }

    @Test func `a plus in a path is a space, unless the setting says otherwise`() throws {
        func id(_ change: (inout ServerOptions) -> Void, _ path: String, _ expected: String) throws {
            let server = try LiveServer {
                $0.security.admins = ["admin": "admin"]
                $0.security.anonymousAccess = .everywhere
                $0.security.allowsLiveSettings = true
                change(&$0)
            }
            func send(_ method: String, _ path: String, _ body: String? = nil) throws -> String {
                let connection = try server.connect()
                var text = LiveServer.request(method, path, body)
                text.replace("Host: test\r\n", with: "Host: test\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\n")
                try connection.write(text)
                return try String(decoding: connection.readAnswer().body, as: UTF8.self)
            }
            _ = try send("PUT", "/db")
            #expect(try send("PUT", "/db/\(path)", "{}").contains("\"id\":\"\(expected)\""))
            // In the query it is a space in any case.
            #expect(
                try send("GET", "/db/_all_docs?key=%22\(expected.replacing("+", with: "%2B"))%22").contains(expected))
        }
        try id({ _ in }, "foo+bar", "foo bar")
        try id({ $0.decodesPlusToSpace = false }, "foo+bar", "foo+bar")
        try id({ $0.decodesPlusToSpace = false }, "foo%2Bbar%20x", "foo+bar x")
        let client = try RouterClient()
        #expect(try client.send("GET", "/_node/_local/_config/chttpd/decode_plus_to_space").json == "true")
    }

    @Test func `DELETE keeps the members that the database keeps on deletion`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("GET", "/db").json["attributes_kept_on_delete"] == nil)
        try client.server.state.databases.open("db").setAttributesKeptOnDelete(["channel", "owner"])
        #expect(try client.send("GET", "/db").json["attributes_kept_on_delete"] == ["channel", "owner"])
        let made = try client.send("PUT", "/db/a", ["v": 1, "channel": "x", "_attachments": ["f": ["data": "AA=="]]])
        let revision = made.json["rev"]?.string ?? ""
        #expect(try client.send("DELETE", "/db/a?rev=1-bad").status == 409)
        let deleted = try client.send("DELETE", "/db/a?rev=\(revision)")
        let tombstone = try client.send("GET", "/db/a?rev=\(deleted.json["rev"]?.string ?? "")").json
        #expect(tombstone["channel"] == "x" && tombstone["v"] == nil && tombstone["_attachments"] == nil)
        // The library writes the same revision.
        let other = try RouterClient.withDatabase()
        #expect(
            try other.send("PUT", "/db/a", ["v": 1, "channel": "x", "_attachments": ["f": ["data": "AA=="]]]).status
                == 201)
        let database = try other.server.state.databases.open("db")
        try database.setAttributesKeptOnDelete(["channel", "owner"])
        let gone = try database.delete("a")
        #expect(gone?.revision?.description == deleted.json["rev"]?.string)
    }

    @Test func `numbers are as they are stored for a client that asks for it`() throws {
        let client = try RouterClient.withDatabase()
        let members = #""p":123456789.123456789123,"z":-0.0,"r":1e-400,"n":1e3"#
        #expect(try client.send("PUT", "/db/a", bytes: Array("{\(members)}".utf8)).status == 201)
        let stored: HTTPHeaders = ["Settle-Numbers": "stored"]
        let find: JSONValue = ["selector": ["_id": "a"]]
        let some: JSONValue = ["selector": ["_id": "a"], "fields": ["p", "z", "r", "n"]]
        let revision = try client.send("GET", "/db/a").json["_rev"] ?? .null
        for (method, path, body) in [
            ("GET", "/db/a", nil), ("GET", "/db/a?open_revs=all", nil), ("GET", "/db/_all_docs?include_docs=true", nil),
            ("POST", "/db/_all_docs?include_docs=true", ["keys": ["a"]]),
            ("GET", "/db/_changes?include_docs=true", nil),
            ("POST", "/db/_bulk_get", ["docs": [["id": "a", "rev": revision]]]), ("POST", "/db/_find", find),
            ("POST", "/db/_find", some), ("GET", "/db/_changes?include_docs=true&feed=longpoll", nil),
        ] as [(String, String, JSONValue?)] {
            let exact = try client.send(method, path, body, headers: stored).text
            #expect(exact.contains(members), "\(path): \(exact)")
            let usual = try client.send(method, path, body).text
            #expect(usual.contains(#""p":123456789.12345679,"z":0.0,"r":0.0,"n":1000.0"#), "\(path): \(usual)")
        }
    }
}
