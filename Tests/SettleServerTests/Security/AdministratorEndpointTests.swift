import Foundation
import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// Administrators that are added, changed and removed over HTTP.
@Suite(.timeLimit(.minutes(5))) struct AdministratorEndpointTests {
    private static let admins = "/_node/_local/_config/admins"

    /// A client of a server with one administrator in its options, `admin`, where settings can be changed.
    private func client() throws -> RouterClient { try RouterClient { $0.security.allowsLiveSettings = true } }

    private func roles(_ client: RouterClient, _ credentials: String) throws -> JSONValue? {
        try client.send(as: credentials, "GET", "/_session").json["userCtx"]?["roles"]
    }

    private func session(_ client: RouterClient, _ name: String, _ password: String) throws -> HTTPHeaders {
        let login: JSONValue = ["name": .string(name), "password": .string(password)]
        let answer = try client.send(as: "", "POST", "/_session", login)
        #expect(answer.status == 200)
        return ["Cookie": String(answer.headers["Set-Cookie"]?.prefix { $0 != ";" } ?? "")]
    }

    private func name(_ client: RouterClient, _ session: HTTPHeaders) throws -> JSONValue? {
        try client.send("GET", "/_session", headers: session).json["userCtx"]?["name"]
    }

    @Test func `an administrator is added, gets another password, and is removed, and each change ends the sessions`()
        throws
    {
        let client = try client()
        let added = try client.send("PUT", "\(Self.admins)/ben", "one")
        #expect(added.status == 200 && added.json == "", "\(added.text)")
        #expect(try roles(client, "ben:one") == ["_admin"])
        let first = try session(client, "ben", "one")
        #expect(try name(client, first) == "ben")

        #expect(try client.send("PUT", "\(Self.admins)/ben", "two").json == "(hidden)")
        #expect(try name(client, first) == .null)
        #expect(try roles(client, "ben:one") == nil)
        #expect(try roles(client, "ben:two") == ["_admin"])
        let second = try session(client, "ben", "two")
        #expect(try client.send("GET", Self.admins).json == ["admin": "(hidden)", "ben": "(hidden)"])
        #expect(try client.send("GET", "\(Self.admins)/ben").json == "(hidden)")

        #expect(try client.send("DELETE", "\(Self.admins)/ben").json == "(hidden)")
        #expect(try name(client, second) == .null)
        #expect(try roles(client, "ben:two") == nil)
        #expect(try client.send("DELETE", "\(Self.admins)/ben").error == "not_found: unknown_config_value")
        #expect(try client.send("GET", "\(Self.admins)/ben").status == 404)
    }

    @Test func `an account whose name looks like an administrator's is another account`() throws {
        let client = try client()
        #expect(try client.send("PUT", "/_users").status == 201)
        // The same letter as one character, and as two.
        #expect(try client.send("PUT", "\(Self.admins)/jos%C3%A9", "one").status == 200)
        let user = RouterClient.user("jose\u{301}", ["staff"])
        #expect(try client.send("PUT", "/_users/org.couchdb.user:jose%CC%81", user).status == 201)
        #expect(try roles(client, "jose\u{301}:one") == nil)
        #expect(try roles(client, "jose\u{301}:pw") == ["staff"])
        #expect(try client.send("GET", "\(Self.admins)/jose%CC%81").status == 404)
        #expect(try client.send("DELETE", "\(Self.admins)/jose%CC%81").error == "not_found: unknown_config_value")
        #expect(try roles(client, "jos\u{E9}:one") == ["_admin"])
    }

    @Test func `without live settings nobody is added or removed, and the reason names the option`() throws {
        let client = try RouterClient()
        for method in ["PUT", "DELETE"] {
            let answer = try client.send(method, "\(Self.admins)/ben", method == "PUT" ? "one" : nil)
            #expect(answer.status == 403 && answer.error.contains("`live_settings`"), "\(answer.text)")
        }
        #expect(try client.send("GET", "\(Self.admins)/admin").status == 404)
        #expect(try roles(client, "ben:one") == nil)
    }

    @Test func `those who are no administrators add nobody`() throws {
        let client = try RouterClient.with(users: ["eve": []]) { $0.security.allowsLiveSettings = true }
        for who in ["", "eve:pw"] {
            #expect(try client.send(as: who, "PUT", "\(Self.admins)/eve", "mine").status == 401)
            #expect(try client.send(as: who, "DELETE", "\(Self.admins)/admin").status == 401)
        }
        #expect(try roles(client, "eve:pw") == [])
    }

    @Test func `a hash in CouchDB's form is stored as it is, and a damaged one is refused`() throws {
        let client = try client()
        let hash = PasswordHash(of: Array("sesame".utf8), salt: "0123456789abcdef", iterations: 12)
        #expect(try client.send("PUT", "\(Self.admins)/ann", .string(hash.line)).status == 200)
        #expect(try roles(client, "ann:sesame") == ["_admin"])
        #expect(client.server.state.administration.hash(of: "ann") == hash)
        let key = String(repeating: "ab", count: 32)
        for damaged in [
            "-pbkdf2:sha256-abc,salt,10", "-pbkdf2:sha256-\(key),salt,0", "-pbkdf2:sha256-\(key),salt,99999999",
            "-pbkdf2:md5-\(key),salt,10", "-pbkdf2:sha256-\(key)", "-hashed-abc,salt", "-pbkdf2",
        ] { #expect(try client.send("PUT", "\(Self.admins)/ann", .string(damaged)).status == 400, "\(damaged)") }
        #expect(try roles(client, "ann:sesame") == ["_admin"])
    }

    @Test(
        arguments: [("", ""), ("", 7), ("", nil), ("_", "x"), ("a%3A", "x"), ("", "(hidden)")] as [(String, JSONValue)])
    func `an impossible name or password is refused`(prefix: String, value: JSONValue) throws {
        let client = try client()
        #expect(try client.send("PUT", "\(Self.admins)/\(prefix)ben", value).status == 400)
        #expect(try client.send("GET", Self.admins).json == ["admin": "(hidden)"])
    }

    @Test func `an administrator of the options or the command line is changed only there`() throws {
        let client = try client()
        try client.server.setAdministrator("given", password: "start")
        for name in ["admin", "given"] {
            for method in ["PUT", "DELETE"] {
                let answer = try client.send(method, "\(Self.admins)/\(name)", method == "PUT" ? "new" : nil)
                #expect(answer.status == 403 && answer.error.contains("\"\(name)\""), "\(answer.text)")
            }
        }
        #expect(try roles(client, "given:start") == ["_admin"])
        #expect(try roles(client, "admin:admin") == ["_admin"])
    }

    @Test func `the last administrator stays`() throws {
        let client = try RouterClient {
            $0.security.admins = [:]
            $0.security.allowsLiveSettings = true
        }
        let password = try #require(try client.server.makeAdministrator())
        let who = "admin:\(password)"
        let refused = try client.send(as: who, "DELETE", "\(Self.admins)/admin")
        #expect(refused.status == 403 && refused.error.contains("last administrator"), "\(refused.text)")
        #expect(try client.send(as: who, "PUT", "\(Self.admins)/ben", "one").status == 200)
        #expect(try client.send(as: who, "DELETE", "\(Self.admins)/admin").status == 200)
        #expect(try roles(client, who) == nil)
        #expect(try client.send(as: "ben:one", "DELETE", "\(Self.admins)/ben").status == 403)
    }

    @Test func `changes outlive the server, and the log names who made them`() async throws {
        let folder = try TemporaryFolder()
        func serve() throws -> LiveServer { try LiveServer(in: folder) { $0.security.allowsLiveSettings = true } }
        var live = try serve()
        #expect(try await live.ask("PUT", "\(Self.admins)/ben", "one").status == 200)
        let lines = try await live.ask("GET", "/_node/_local/_log").json["log"]?.array ?? []
        let line = try #require(lines.first { $0["event"] == "setting_changed" })
        #expect(line["setting"] == "admins/ben" && line["user"] == "admin", "\(line)")
        live.server.stop()
        live = try serve()
        #expect(try await live.ask("GET", Self.admins).json == ["admin": "(hidden)", "ben": "(hidden)"])
        #expect(try await live.ask("DELETE", "\(Self.admins)/ben").status == 200)
        let text = try String(contentsOfFile: folder("server.json"), encoding: .utf8)
        #expect(!text.contains("ben"))
    }

    @Test func `an administrator changed on one node counts on the other at once`() throws {
        let nodes = try SharedNodes { $0.security.allowsLiveSettings = true }
        #expect(try nodes.one.send("PUT", "\(Self.admins)/ben", "one").json == "")
        let cookie = try session(nodes.two, "ben", "one")
        #expect(try name(nodes.one, cookie) == "ben")
        #expect(try nodes.two.send("PUT", "\(Self.admins)/ben", "two").json == "(hidden)")
        #expect(try name(nodes.one, cookie) == .null)
        #expect(try roles(nodes.one, "ben:two") == ["_admin"])
        #expect(try nodes.one.send("DELETE", "\(Self.admins)/ben").status == 200)
        #expect(try roles(nodes.two, "ben:two") == nil)
        #expect(try nodes.two.send("DELETE", "\(Self.admins)/ben").status == 404)
    }
}
