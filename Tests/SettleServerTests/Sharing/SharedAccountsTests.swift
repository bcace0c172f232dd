import Dispatch
import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Administrators, users, sessions and settings of nodes that share a store.
@Suite(.timeLimit(.minutes(5))) struct SharedAccountsTests {
    private static let anna = "/_users/org.couchdb.user:anna"
    private static let config = "/_node/_local/_config"

    private func roles(_ client: RouterClient, _ credentials: String) throws -> JSONValue? {
        try client.send(as: credentials, "GET", "/_session").json["userCtx"]?["roles"]
    }

    private func cookie(_ client: RouterClient, _ name: String, _ password: String) throws -> HTTPHeaders {
        let login: JSONValue = ["name": .string(name), "password": .string(password)]
        let answer = try client.send("POST", "/_session", login)
        return ["Cookie": String(answer.headers["Set-Cookie"]?.prefix { $0 != ";" } ?? "")]
    }

    @Test func `an administrator made on one node logs in on the other at once`() throws {
        let nodes = try SharedNodes()
        #expect(try roles(nodes.two, "anna:sesame") == nil)
        try nodes.one.server.setAdministrator("anna", password: "sesame")
        #expect(try roles(nodes.two, "anna:sesame") == ["_admin"])
        try nodes.two.server.setAdministrator("anna", password: "other")
        #expect(try roles(nodes.one, "anna:sesame") == nil)
        #expect(try roles(nodes.one, "anna:other") == ["_admin"])
    }

    @Test func `a document is read ahead only for credentials that were admitted to its database`() throws {
        let nodes = try SharedNodes()
        let node = nodes.one
        for name in ["open", "closed"] {
            _ = try node.send("PUT", "/" + name)
            _ = try node.send("PUT", "/\(name)/_security", ["members": ["names": [], "roles": []]])
            _ = try node.send("PUT", "/\(name)/doc", ["n": 1])
        }
        _ = try node.send("PUT", "/closed/_security", ["members": ["names": ["anna"]]])
        for name in ["anna", "mallory"] {
            let id = "org.couchdb.user:\(name)"
            _ = try node.send(
                "PUT", "/_users/\(id)",
                ["name": .string(name), "password": "sesame", "type": "user", "roles": []])
        }
        /// What was expected during requests, and their statuses.
        func ask(_ credentials: String, _ method: String, _ path: String, times: Int = 3) throws -> ([String], [Int]) {
            nodes.memory.expected.withLock { $0 = [] }
            let statuses = try (0..<times).map { _ in try node.send(as: credentials, method, path).status }
            return (nodes.memory.expected.withLock(\.self), statuses)
        }
        #expect(try ask("mallory:sesame", "GET", "/closed/doc") == ([], [403, 403, 403]))
        #expect(try ask("anna:wrong", "GET", "/closed/doc", times: 2) == ([], [401, 401]))
        // The first time the password is verified, which needs a request of its own.
        let (found, statuses) = try ask("anna:sesame", "GET", "/closed/doc", times: 4)
        #expect(statuses == [200, 200, 200, 200] && found.count >= 2 && Set(found) == ["closed/doc"])
        #expect(try ask("anna:sesame", "GET", "/closed/none", times: 1) == (["closed/none"], [404]))
        #expect(try ask("anna:wrong", "GET", "/closed/doc", times: 1) == ([], [401]))
        #expect(try ask("mallory:sesame", "GET", "/closed/doc") == ([], [403, 403, 403]))
        #expect(try ask("anna:sesame", "GET", "/open/doc", times: 1) == ([], [200]))
        #expect(try ask("anna:sesame", "DELETE", "/closed/doc", times: 1) == (["closed/doc"], [409]))
        #expect(try ask("anna:sesame", "GET", "/closed/_all_docs", times: 1) == ([], [200]))
        // Accounts and design documents are cached by the newest commit, so they are read after it.
        #expect(try ask("anna:sesame", "GET", "/_users/org.couchdb.user:anna").0 == [])
        #expect(try ask("anna:sesame", "GET", "/closed/_design/none").0 == [])
    }

    @Test func `the password of an account opens no other one whose name looks the same`() throws {
        let nodes = try SharedNodes()
        // The same letter as one character, and as two.
        let accounts = [("jos\u{E9}", "sesame"), ("jose\u{301}", "guess")]
        for (name, password) in accounts {
            let user: JSONValue = [
                "_id": .string("org.couchdb.user:\(name)"), "name": .string(name), "password": .string(password),
                "type": "user", "roles": [.string(password)],
            ]
            #expect(try nodes.one.send("POST", "/_users", user).status == 201)
        }
        for (name, password) in accounts {
            let own: JSONValue = [.string(password)]
            #expect(try roles(nodes.two, "\(name):\(password)") == own)
            for (other, _) in accounts where !other.unicodeScalars.elementsEqual(name.unicodeScalars) {
                #expect(try roles(nodes.two, "\(other):\(password)") == nil)
            }
        }
    }

    @Test(arguments: [("anna", "sesame"), ("admin", "admin")])
    func `a session of an administrator is valid on both nodes`(name: String, password: String) throws {
        let nodes = try SharedNodes()
        try nodes.one.server.setAdministrator("anna", password: "sesame")
        let session = try cookie(nodes.one, name, password)
        // A node that starts with a password that is set already ends no session.
        try nodes.two.server.setAdministrator("anna", password: "sesame")
        for node in [nodes.one, nodes.two] {
            #expect(try node.send("GET", "/_session", headers: session).json["userCtx"]?["roles"] == ["_admin"])
        }
    }

    @Test func `nodes that start at the same time make one administrator and one secret`() throws {
        for _ in 0..<10 {
            let memory = SharedMemory()
            let nodes = try (0..<4).map { _ in try RouterClient(sharing: memory) { $0.security.admins = [:] } }
            let made = Guarded<[String]>([])
            DispatchQueue.concurrentPerform(iterations: nodes.count) { number in
                guard let password = try? nodes[number].server.makeAdministrator() else { return }
                made.withLock { $0.append(password) }
            }
            let passwords = made.withLock(\.self)
            #expect(passwords.count == 1)
            for node in nodes {
                #expect(try roles(node, "admin:\(passwords.first ?? "")") == ["_admin"])
                #expect(node.server.state.administration.secret == nodes[0].server.state.administration.secret)
            }
        }
    }

    @Test func `administrators set on several nodes at the same time are all kept`() throws {
        let nodes = try SharedNodes()
        let names = (0..<8).map { "name\($0)" }
        DispatchQueue.concurrentPerform(iterations: names.count) { number in
            let node = number % 2 == 0 ? nodes.one : nodes.two
            #expect(throws: Never.self) { try node.server.setAdministrator(names[number], password: "sesame") }
        }
        for name in names { #expect(try roles(nodes.two, "\(name):sesame") == ["_admin"]) }
    }

    @Test func `a new password counts on all nodes at once`() throws {
        let nodes = try SharedNodes()
        var answer = try nodes.one.send("PUT", Self.anna, RouterClient.user("anna", ["a"], password: "p0"))
        #expect(answer.status == 201)
        for round in 0..<3 {
            #expect(try roles(nodes.two, "anna:p\(round)") == ["a"])
            let session = try cookie(nodes.two, "anna", "p\(round)")
            #expect(try nodes.two.send("GET", "/_session", headers: session).json["userCtx"]?["name"] == "anna")
            let rev = answer.json["rev"]?.string ?? ""
            answer = try nodes.one.send(
                "PUT", "\(Self.anna)?rev=\(rev)", RouterClient.user("anna", ["a"], password: "p\(round + 1)"))
            #expect(answer.status == 201)
            #expect(try roles(nodes.two, "anna:p\(round)") == nil)
            #expect(try nodes.two.send("GET", "/_session", headers: session).json["userCtx"]?["name"] == .null)
        }
        let rev = answer.json["rev"]?.string ?? ""
        #expect(try roles(nodes.two, "anna:p3") == ["a"])
        #expect(try nodes.one.send("DELETE", "\(Self.anna)?rev=\(rev)").status == 200)
        #expect(try roles(nodes.two, "anna:p3") == nil)
    }

    @Test func `a session reads nothing while the users stay as they are`() throws {
        let nodes = try SharedNodes()
        #expect(try nodes.one.send("PUT", Self.anna, RouterClient.user("anna")).status == 201)
        let users = try #require(nodes.memory.databases["_users"])
        for credentials in ["anna:pw", "admin:admin"] {
            _ = try roles(nodes.two, credentials)
            let before = users.reads
            for _ in 0..<5 { #expect(try roles(nodes.two, credentials) != nil) }
            #expect(users.reads == before, "\(credentials)")
        }
    }

    @Test func `a setting changed on one node counts on the other`() throws {
        let nodes = try SharedNodes { $0.security.allowsLiveSettings = true }
        #expect(try nodes.one.send("PUT", "/db").status == 201)
        let long: JSONValue = ["text": "longer than twenty bytes"]
        let path = "\(Self.config)/couchdb/max_document_size"
        #expect(try nodes.one.send("PUT", path, "20").json == "8000000")
        #expect(try nodes.two.send("PUT", "/db/a", long).status == 413)
        #expect(try nodes.two.send("PUT", "\(Self.config)/text_indexes/enable", "true").json == "false")
        #expect(try nodes.one.send("GET", "\(Self.config)/text_indexes/enable").json == "true")
        #expect(try nodes.one.send("GET", path).json == "20")
        #expect(try nodes.one.send("DELETE", path).json == "20")
        #expect(try nodes.two.send("PUT", "/db/a", long).status == 201)
        let third = try RouterClient(sharing: nodes.memory) { $0.security.allowsLiveSettings = true }
        #expect(try third.send("GET", "\(Self.config)/text_indexes/enable").json == "true")
        let strict = try RouterClient(sharing: nodes.memory)
        #expect(try strict.send("GET", "\(Self.config)/text_indexes/enable").json == "false")
    }

    @Test func `the switch that can always be changed counts on both nodes`() throws {
        let nodes = try SharedNodes()
        #expect(try nodes.two.send("PUT", "/_users/_security", SecurityObject.standard).status == 403)
        let path = "\(Self.config)/couchdb/users_db_security_editable"
        #expect(try nodes.one.send("PUT", path, "true").json == "false")
        #expect(try nodes.two.send("PUT", "/_users/_security", SecurityObject.standard).status == 200)
        #expect(try nodes.two.send("DELETE", path).json == "true")
        #expect(try nodes.one.send("PUT", "/_users/_security", SecurityObject.standard).status == 403)
    }

    @Test func `the configuration shows no secret of the record`() throws {
        let nodes = try SharedNodes { $0.security.allowsLiveSettings = true }
        try nodes.one.server.setAdministrator("anna", password: "sesame")
        let shown = try nodes.two.send("GET", Self.config).text
        let record = try ServerSettings(#require(nodes.memory.record).bytes)
        #expect(shown.contains("anna") && !shown.contains(record.secret))
        #expect(!shown.contains(record.admins[ExactText("anna")]?.hash ?? "") && !shown.contains("sesame"))
    }
}
