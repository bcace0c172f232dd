import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// Obsidian's Self-hosted LiveSync asks a server for these things before it uses it.
@Suite(.timeLimit(.minutes(5))) struct ObsidianPresetTests {
    private static let origins = ["app://obsidian.md", "capacitor://localhost", "http://localhost"]

    private func client() throws -> RouterClient {
        try RouterClient {
            let admins = $0.security.admins
            $0.security = ServerPreset.obsidian.security
            $0.security.admins = admins
            $0.largestDocument = ServerPreset.obsidian.largestDocument
        }
    }

    @Test func `the plug-in's check of the configuration finds everything right`() throws {
        let client = try client()
        let settings = try client.send("GET", "/_node/_local/_config").json
        #expect(settings["admins"]?["admin"] == "(hidden)")
        #expect(settings["chttpd"]?["require_valid_user"] == "true")
        #expect(settings["chttpd_auth"]?["require_valid_user"] == "true")
        #expect(settings["httpd"]?["WWW-Authenticate"]?.string?.hasPrefix("Basic") == true)
        #expect(settings["chttpd"]?["enable_cors"] == "true" && settings["httpd"]?["enable_cors"] == "true")
        #expect(settings["chttpd"]?["max_http_request_size"].flatMap { Int($0.string ?? "") } ?? 0 >= 4_294_967_296)
        #expect(settings["couchdb"]?["max_document_size"].flatMap { Int($0.string ?? "") } ?? 0 >= 50_000_000)
        #expect(settings["cors"]?["credentials"] == "true")
        let origins = settings["cors"]?["origins"]?.string?.split(separator: ",").map(String.init) ?? []
        #expect(Set(origins) == Set(Self.origins))
        for origin in Self.origins {
            let answer = try client.send("GET", "/_node/_local/_config", headers: ["Origin": origin])
            #expect(answer.headers["Access-Control-Allow-Credentials"] == "true")
            #expect(answer.headers["Access-Control-Allow-Origin"] == origin)
        }
    }

    @Test func `the plug-in's script sets the server up, twice`() throws {
        let client = try client()
        for _ in 0..<2 {
            let setUp: JSONValue = [
                "action": "enable_single_node", "username": "admin", "bind_address": "0.0.0.0", "port": 5984,
            ]
            #expect(try client.send("POST", "/_cluster_setup", setUp).status == 201)
            for (name, value) in [
                ("chttpd/require_valid_user", "true"), ("chttpd_auth/require_valid_user", "true"),
                ("httpd/WWW-Authenticate", "Basic realm=\"couchdb\""), ("httpd/enable_cors", "true"),
                ("chttpd/enable_cors", "true"), ("chttpd/max_http_request_size", "4294967296"),
                ("couchdb/max_document_size", "50000000"), ("cors/credentials", "true"),
                ("cors/origins", Self.origins.joined(separator: ",")),
            ] {
                let answer = try client.send("PUT", "/_node/_local/_config/\(name)", .string(value))
                #expect(answer.status == 200, "\(name): \(answer.text)")
            }
        }
        #expect(try client.send("GET", "/_cluster_setup").json == ["state": "single_node_enabled"])
        #expect(try client.send("GET", "/_users").status == 200)
        #expect(try client.send("PUT", "/_node/_local/_config/chttpd/require_valid_user", "false").status == 403)
        #expect(try client.send("PUT", "/_node/_local/_config/admins/admin", "(hidden)").status == 403)
    }

    @Test func `the app's pages may send passwords and write documents, and strangers nothing`() throws {
        let client = try client()
        #expect(try client.send("PUT", "/vault").status == 201)
        for origin in Self.origins {
            let asked = try client.send(
                "OPTIONS", "/vault/_bulk_docs",
                headers: [
                    "Origin": origin, "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "authorization,content-type",
                ])
            #expect(asked.status == 204 && asked.headers["Access-Control-Allow-Origin"] == origin)
            #expect(asked.headers["Access-Control-Allow-Credentials"] == "true")
        }
        let stranger = try client.send("GET", "/vault", headers: ["Origin": "https://elsewhere.example"])
        #expect(stranger.headers["Access-Control-Allow-Origin"] == nil)
    }

    @Test func `a server without administrators of that name is not set up over HTTP`() throws {
        let client = try client()
        let setUp: JSONValue = ["action": "enable_single_node", "username": "eve", "password": "hush"]
        let answer = try client.send("POST", "/_cluster_setup", setUp)
        #expect(answer.status == 400 && !answer.text.contains("hush"))
        #expect(try client.send("POST", "/_cluster_setup", ["action": "add_node"]).status == 400)
        #expect(try client.send("GET", "/_cluster_setup").json == ["state": "single_node_disabled"])
    }
}
