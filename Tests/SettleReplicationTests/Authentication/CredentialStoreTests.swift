import RevisionTree
import Settle
import Testing

/// Passwords by the places they are for, against a server that asks for a realm.
@Suite(.timeLimit(.minutes(5))) struct CredentialStoreTests {
    /// A server that lets `anna` in, and tells its realm where it is to.
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
            database: try HTTPURL(server.url + "/db"), client: CurlHTTPClient(), credentials: .stored(store))
        return try await connection.json("GET", "")
    }

    // SEMANTICS 136
    @Test func `one that fits is sent, one with a realm after the server has asked for it`() async throws {
        let server = try makeServer()
        #expect(try await ask(server, store(server.url, realm: nil)).json["ok"] == true)
        #expect(server.requests.count == 1)
        #expect(try await ask(server, store(server.url, realm: "notes")).json["ok"] == true)
        #expect(server.requests.count == 3)
        #expect(server.requests.filter { $0.head.contains("Authorization") }.count == 2)
    }

    // SEMANTICS 136
    @Test func `one that does not fit is not sent, and the error says in what it is different`() async throws {
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

    @Test func `a wrong password is not tried for ever`() async throws {
        let server = try makeServer()
        var store = CredentialStore()
        store.add(user: "anna", password: "wrong", for: try HTTPURL(server.url), realm: "notes")
        let error = await #expect(throws: CouchDBError.self) { try await ask(server, store) }
        #expect(error?.tried == "basic authentication as 'anna'")
        #expect(server.requests.count == 2)
        var text = "\(store) \(Credentials.stored(store))"
        dump(store, to: &text)
        #expect(!text.contains("wrong"))
    }
}
