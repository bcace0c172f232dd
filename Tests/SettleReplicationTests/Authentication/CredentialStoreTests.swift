import Settle
import SettleCore
import SettleHTTP
import Testing

@testable import SettleReplication

/// Passwords by server and realm, against a server that asks for a realm.
@Suite(.timeLimit(.minutes(5))) struct CredentialStoreTests {
    /// A server that accepts `anna`, and names its realm if it has one.
    private func makeServer(_ challenge: String? = "Basic realm=\"notes\"") throws -> OddServer {
        try OddServer { request in
            if request.head.contains("Basic YW5uYTpodW50ZXIy\r\n") { return .init(200, "{\"ok\":true}") }
            return .init(
                401, "{\"error\":\"unauthorized\",\"reason\":\"no\"}",
                headers: challenge.map { ["WWW-Authenticate: \($0)"] } ?? [])
        }
    }

    private func store(_ server: String, realm: String?) throws -> CredentialStore {
        var store = CredentialStore()
        store.add(user: "anna", password: "hunter2", for: try HTTPURL(server), realm: realm)
        return store
    }

    private func ask(_ server: OddServer, _ store: CredentialStore) async throws -> CouchDBAnswer {
        let connection = CouchDBConnection(
            database: try HTTPURL(server.url + "/db"), client: DefaultTransport(), credentials: .stored(store))
        return try await connection.json("GET", "")
    }

    // SEMANTICS 136
    @Test func `matching credentials are sent, those with a realm after the server's challenge`() async throws {
        let server = try makeServer()
        #expect(try await ask(server, store(server.url, realm: nil)).json["ok"] == true)
        #expect(server.requests.count == 1)
        #expect(try await ask(server, store(server.url, realm: "notes")).json["ok"] == true)
        #expect(server.requests.count == 3)
        #expect(server.requests.filter { $0.head.contains("Authorization") }.count == 2)
    }

    // SEMANTICS 136
    @Test func `credentials that do not match are not sent, and the error names the difference`() async throws {
        let server = try makeServer()
        let port = try HTTPURL(server.url).port
        for (place, realm, told) in [
            ("http://127.0.0.1:\(port + 1)", nil, "the port \(port + 1) and not \(port)"),
            ("http://other.example:\(port)", nil, "the host other.example and not 127.0.0.1"),
            ("https://127.0.0.1:\(port)", nil, "the scheme https and not http"),
            ("http://127.0.0.1:\(port)", "shop", "the realm 'shop' and not 'notes'"),
        ] as [(String, String?, String)] {
            let error = await #expect(throws: CouchDBError.self) { try await ask(server, store(place, realm: realm)) }
            #expect(error?.status == 401 && error?.tried?.contains(told) == true, "\(error as Any)")
            #expect(error?.tried?.contains("'anna'") == true && "\(error as Any)".contains("hunter2") == false)
        }
        #expect(!server.requests.contains { $0.head.contains("Authorization") })
        let digest = try makeServer("Digest realm=\"notes\", nonce=\"x\"")
        let error = await #expect(throws: CouchDBError.self) {
            try await ask(digest, store(digest.url, realm: "notes"))
        }
        #expect(error?.tried?.contains("the method basic and not digest") == true)
    }

    @Test func `a wrong password is not retried endlessly`() async throws {
        let server = try makeServer()
        var store = CredentialStore()
        store.add(user: "anna", password: "wrong", for: try HTTPURL(server.url), realm: "notes")
        let error = await #expect(throws: CouchDBError.self) { try await ask(server, store) }
        #expect(error?.tried == "basic authentication as 'anna'")
        #expect(server.requests.count == 2)
        var text = "\(store) \(ReplicationCredentials.stored(store))"
        dump(store, to: &text)
        #expect(!text.contains("wrong"))
    }

    @Test func `a sealed store opens with its key only`() throws {
        let key = [UInt8](repeating: 7, count: 32)
        var store = try store("https://couch.example:6984/notes", realm: "notes")
        store.add(user: "bert", password: "h\u{fc}tte \"2\"", for: try HTTPURL("http://[::1]:5984"))
        let sealed = try store.sealed(key: key)
        #expect(try store.sealed(key: key) != sealed)
        let text = String(decoding: sealed, as: UTF8.self)
        for secret in ["hunter2", "anna", "couch.example", "notes"] { #expect(!text.contains(secret)) }
        let opened = try CredentialStore(opening: sealed, key: key)
        #expect("\(opened)" == "\(store)".replacing("/notes", with: ""))
        #expect(opened.entries.map(\.password) == ["hunter2", "h\u{fc}tte \"2\""])
        #expect(opened.entries.map(\.realm) == ["notes", nil])
        #expect(try CredentialStore(opening: CredentialStore().sealed(key: key), key: key).entries.isEmpty)

        var other = key
        other[31] ^= 1
        let wrong = #expect(throws: PeerError.self) { try CredentialStore(opening: sealed, key: other) }
        #expect(wrong?.code == .unauthorized)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: PeerError.self) { try CredentialStore(opening: changed, key: key) }
        }
        for count in 0..<sealed.count {
            #expect(throws: PeerError.self) { try CredentialStore(opening: Array(sealed.prefix(count)), key: key) }
        }
        for bad in [[], Array(key.dropLast()), key + [0]] {
            let error = #expect(throws: PeerError.self) { try store.sealed(key: bad) }
            #expect(error?.code == .badRequest && error?.message.contains("32 bytes") == true)
            #expect(throws: PeerError.self) { try CredentialStore(opening: sealed, key: bad) }
        }
    }

    @Test func `a peer without credentials finds those for its server in the shared store`() async throws {
        let server = try makeServer()
        let before = CredentialStore.shared
        defer { CredentialStore.shared = before }
        var shared = before
        shared.add(user: "anna", password: "hunter2", for: try HTTPURL(server.url))
        CredentialStore.shared = shared
        let url = try HTTPURL(server.url + "/db")
        let ask = { (credentials: ReplicationCredentials?) async throws in
            try await CouchDBConnection(database: url, client: DefaultTransport(), credentials: credentials).json(
                "GET", "")
        }
        #expect(try await ask(nil).json["ok"] == true)
        #expect(try CouchDBPeer(url).credentials.description == "stored credentials")
        // Explicit credentials are used as given, and other servers need other entries.
        await #expect(throws: CouchDBError.self) { try await ask(ReplicationCredentials.none) }
        #expect(try CouchDBPeer(HTTPURL("http://eve:x@127.0.0.1:\(url.port)/db")).credentials.user == "eve")
        let elsewhere = try HTTPURL("http://127.0.0.1:\(url.port + 1)/db")
        #expect(try CouchDBPeer(elsewhere).credentials.description == "no authentication")
    }
}
