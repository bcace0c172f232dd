import Foundation
import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// Configuration that is changed over HTTP.
@Suite(.timeLimit(.minutes(5))) struct LiveSettingsTests {
    private static let config = "/_node/_local/_config"

    private func set(_ client: RouterClient, _ name: String, _ value: JSONValue) throws -> Answer {
        try client.send("PUT", "\(Self.config)/\(name)", value)
    }

    @Test func `unless the options allow more, administrators change one switch only`() throws {
        let client = try RouterClient()
        for setting in LiveSetting.all where setting.key != "users_db_security_editable" {
            let name = "\(setting.section)/\(setting.key)"
            #expect(try set(client, name, "true").status == 403, "\(name)")
            #expect(try client.send("DELETE", "\(Self.config)/\(name)").status == 403)
        }
        #expect(try set(client, "couchdb/users_db_security_editable", "true").json == "false")
        #expect(try client.send("DELETE", "\(Self.config)/couchdb/users_db_security_editable").json == "true")
        #expect(!FileManager.default.fileExists(atPath: client.folder("server.json")))
    }

    @Test func `where the options allow it, a change applies from the next request on`() throws {
        let client = try RouterClient { $0.security.allowsLiveSettings = true }
        #expect(try client.send("PUT", "/db").status == 201)
        let page: HTTPHeaders = ["Origin": "https://app.example"]
        let allowed = { try client.send("GET", "/", headers: page).headers["Access-Control-Allow-Origin"] }
        #expect(try set(client, "cors/origins", "https://app.example, https://b.example").json == "")
        #expect(try allowed() == nil)
        #expect(try set(client, "chttpd/enable_cors", "true").json == "false")
        #expect(try allowed() == "https://app.example")
        #expect(
            try client.send("GET", "\(Self.config)/cors/origins").json == "https://app.example,https://b.example")
        #expect(try client.send("DELETE", "\(Self.config)/cors/origins").status == 200)
        #expect(try allowed() == nil)

        #expect(try set(client, "couchdb/max_document_size", "20").json == "8000000")
        #expect(try client.send("PUT", "/db/a", ["text": "longer than twenty bytes"]).status == 413)
        #expect(try set(client, "couchdb/max_document_size", "200").json == "20")
        #expect(try client.send("PUT", "/db/a", ["text": "longer than twenty bytes"]).status == 201)
        #expect(try client.send("DELETE", "\(Self.config)/couchdb/max_document_size").json == "200")
        #expect(try set(client, "text_indexes/enable", "true").json == "false")
        let index: JSONValue = ["index": ["fields": [["name": "t", "type": "string"]]], "type": "text"]
        #expect(try client.send("POST", "/db/_index", index).status == 200)
    }

    @Test(arguments: [
        ("cors/origins", "evil"), ("cors/origins", "https://a/path"), ("cors/headers", "a:b"),
        ("cors/methods", "GET,,"),
        ("cors/max_age", "-1"), ("couchdb/max_document_size", "0"), ("couchdb/max_document_size", "1 MB"),
        ("chttpd/enable_cors", "yes"), ("chttpd/max_http_request_size", "99999999999999999999"),
    ])
    func `an invalid value is refused, and nothing changes`(name: String, value: String) throws {
        let client = try RouterClient { $0.security.allowsLiveSettings = true }
        let before = try client.send("GET", "\(Self.config)/\(name)").json
        let answer = try set(client, name, .string(value))
        #expect(answer.status == 400, "\(answer.text)")
        #expect(try set(client, name, 7).status == 400)
        #expect(try client.send("GET", "\(Self.config)/\(name)").json == before)
    }

    @Test func `credentials are never allowed with every origin, whichever is set first`() throws {
        let client = try RouterClient { $0.security.allowsLiveSettings = true }
        #expect(try set(client, "cors/credentials", "true").status == 200)
        #expect(try set(client, "cors/origins", "*").status == 400)
        #expect(try set(client, "cors/credentials", "false").status == 200)
        #expect(try set(client, "cors/origins", "*").status == 200)
        #expect(try set(client, "cors/credentials", "true").status == 400)
    }

    @Test func `no setting that names a program, a path, an address or a person can be changed`() throws {
        let client = try RouterClient { $0.security.allowsLiveSettings = true }
        for name in [
            "chttpd/bind_address", "chttpd/port", "chttpd_auth/secret", "query_servers/x",
            "native_query_servers/x", "couchdb/database_dir", "log/file", "ssl/cert_file", "jwt_keys/hmac:x",
            "chttpd/authentication_handlers", "couchdb/default_security", "chttpd_auth/public_fields",
            "replicator/allowed_hosts", "chttpd_auth_lockout/mode", "chttpd/require_valid_user", "cors/x", "x/y",
        ] { #expect(try set(client, name, "x").status == 403, "\(name)") }
        let user = try RouterClient.with(users: ["eve": []]) { $0.security.allowsLiveSettings = true }
        #expect(
            try user.send(as: "eve:pw", "PUT", "\(Self.config)/cors/origins", "*").status == 401)
    }

    @Test func `a change persists, as long as changes are allowed`() async throws {
        let folder = try TemporaryFolder()
        func serve(_ isAllowed: Bool) throws -> LiveServer {
            try LiveServer(in: folder) { $0.security.allowsLiveSettings = isAllowed }
        }
        let (size, request) = (
            "\(Self.config)/couchdb/max_document_size", "\(Self.config)/chttpd/max_http_request_size"
        )
        var live = try serve(true)
        #expect(try await live.ask("PUT", size, "4000").json == "8000000")
        #expect(try await live.ask("PUT", request, "5000").json == "4294967296")
        #expect(try await live.ask("PUT", "/db").status == 201)
        #expect(try await live.ask("PUT", "/db/a", ["a": .string(String(repeating: "x", count: 6000))]).status == 413)
        for (isAllowed, text) in [(true, "4000"), (false, "8000000"), (true, "4000")] as [(Bool, JSONValue)] {
            live.server.stop()
            live = try serve(isAllowed)
            #expect(try await live.ask("GET", size).json == text)
        }
        #expect(try await live.ask("DELETE", size).json == "4000")
        #expect(try await live.ask("GET", size).json == "8000000")
        live.server.stop()
        live = try serve(true)
        #expect(try await live.ask("GET", size).json == "8000000")
        #expect(try await live.ask("GET", request).json == "5000")
    }

    @Test func `credentials for named origins outlast a restart with options that allow every origin`() async throws {
        let folder = try TemporaryFolder()
        func serve() throws -> LiveServer {
            try LiveServer(in: folder) {
                $0.security.allowsLiveSettings = true
                $0.security.crossOrigin = CrossOriginOptions(origins: ["*"])
            }
        }
        let (origins, credentials) = ("\(Self.config)/cors/origins", "\(Self.config)/cors/credentials")
        var live = try serve()
        #expect(try await live.ask("PUT", origins, "https://app.example").json == "*")
        #expect(try await live.ask("PUT", credentials, "true").json == "false")
        live.server.stop()
        live = try serve()
        #expect(try await live.ask("GET", origins).json == "https://app.example")
        #expect(try await live.ask("GET", credentials).json == "true")
    }

    @Test func `a reload keeps a change over HTTP, and applies none that is no longer allowed`() async throws {
        let folder = try TemporaryFolder()
        let editable = "\(Self.config)/couchdb/users_db_security_editable"
        var live = try LiveServer(in: folder)
        #expect(try await live.ask("PUT", editable, "true").json == "false")
        try live.server.reload(ServerOptions())
        #expect(try await live.ask("GET", editable).json == "true")
        #expect(try await live.ask("DELETE", editable).json == "true")
        try live.server.reload(ServerOptions())
        #expect(try await live.ask("GET", editable).json == "false")
        live.server.stop()
        live = try LiveServer(in: folder) { $0.security.allowsLiveSettings = true }
        #expect(try await live.ask("PUT", editable, "true").json == "false")
        live.server.stop()
        live = try LiveServer(in: folder)
        try live.server.reload(ServerOptions())
        #expect(try await live.ask("GET", editable).json == "false")
    }

    @Test func `a removed change gives way to the options of the last reload`() async throws {
        let live = try LiveServer { $0.security.allowsLiveSettings = true }
        let size = "\(Self.config)/couchdb/max_document_size"
        var options = ServerOptions()
        options.largestDocument = 1000
        try live.server.reload(options)
        #expect(try await live.ask("PUT", size, "500").json == "1000")
        #expect(try await live.ask("DELETE", size).json == "500")
        #expect(try await live.ask("GET", size).json == "1000")
    }

    @Test(arguments: [true, false])
    func `a raised limit of requests applies to bodies that go to a file`(isReload: Bool) async throws {
        let live = try LiveServer {
            $0.security.allowsLiveSettings = true
            $0.largestUpload = 2 << 20
        }
        #expect(try await live.ask("PUT", "/db").status == 201)
        if isReload {
            var options = ServerOptions()
            options.largestUpload = 4 << 20
            try live.server.reload(options)
        } else {
            let size = "\(Self.config)/chttpd/max_http_request_size"
            #expect(try await live.ask("PUT", size, "4194304").json == "2097152")
        }
        let length = 3 << 20
        let head = "PUT /db/a/file HTTP/1.1\r\nHost: test\r\nContent-Type: image/x\r\nContent-Length: \(length)\r\n\r\n"
        let connection = try live.connect()
        try connection.write(head)
        try connection.write([UInt8](repeating: 7, count: length))
        let answer = try connection.readAnswer()
        #expect(answer.head.hasPrefix("HTTP/1.1 201"), "\(answer.head)")
    }
}
