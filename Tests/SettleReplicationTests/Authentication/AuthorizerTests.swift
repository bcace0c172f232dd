import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// Credentials on requests, and when secrets are renewed; the test sets the clock.
@Suite(.timeLimit(.minutes(5))) struct AuthorizerTests {
    private static let url = "http://couch.example/db"

    private func headers(of credentials: ReplicationCredentials) async throws -> HTTPHeaders {
        let url = try HTTPURL(Self.url)
        var request = HTTPRequest("GET", url)
        _ = try await Authorizer(credentials, server: url.parent, client: NoNetwork()).authorize(&request)
        return request.headers
    }

    @Test func `each kind sends its header`() async throws {
        #expect(try await headers(of: .none).fields.isEmpty)
        let basic = try await headers(of: .basic(user: "Aladdin", password: "open sesame"))
        #expect(basic["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(try await headers(of: .bearer("t0ken"))["Authorization"] == "Bearer t0ken")
        let proxy = try await headers(of: .proxy(user: "foo", roles: ["a", "b"], secret: "the_secret"))
        #expect(proxy["X-Auth-CouchDB-UserName"] == "foo" && proxy["X-Auth-CouchDB-Roles"] == "a,b")
        // The example of CouchDB's documentation.
        #expect(proxy["X-Auth-CouchDB-Token"] == "22047ebd7c4ec67dfbcbad7213a693249dbfbf86")
        let keys = OAuth1(consumerKey: "app", consumerSecret: "a", token: "b", tokenSecret: "c")
        #expect(try await headers(of: .oauth1(keys))["Authorization"]?.hasPrefix("OAuth ") == true)
    }

    @Test func `no kind prints its secret`() {
        let keys = OAuth1(consumerKey: "app", consumerSecret: "hunter2", token: "hunter2", tokenSecret: "hunter2")
        for (credentials, words) in [
            (ReplicationCredentials.basic(user: "anna", password: "hunter2"), "basic authentication as 'anna'"),
            (.session(user: "anna", password: "hunter2"), "a session of 'anna'"),
            (.bearer("hunter2"), "a bearer token"),
            (.bearer { "hunter2" }, "a bearer token"), (.oauth1(keys), "OAuth 1 with the key 'app'"),
            (.proxy(user: "anna", roles: [], secret: "hunter2"), "proxy authentication as 'anna'"),
            (.none, "no authentication"),
        ] {
            var text = "\(credentials) \(String(reflecting: credentials)) \([credentials]) \(keys)"
            dump(credentials, to: &text)
            dump(keys, to: &text)
            #expect(text.contains(words) && !text.contains("hunter2"))
        }
    }

    @Test func `a token is requested again before it expires, and not earlier`() async throws {
        let clock = Guarded(1000.0)
        let asked = Guarded(0)
        let credentials = ReplicationCredentials.bearer {
            asked.withLock { $0 += 1 }
            let claims: JSONValue = ["exp": .number(JSONNumber(clock.withLock { Int($0) } + 100))]
            return "e30." + Base64.encode(claims.utf8).filter { $0 != "=" } + ".c2ln"
        }
        let url = try HTTPURL(Self.url)
        let authorizer = Authorizer(credentials, server: url, client: NoNetwork()) { clock.withLock { $0 } }
        for (time, count) in [(1000.0, 1), (1080, 1), (1086, 2), (1100, 2), (1180, 3)] {
            clock.withLock { $0 = time }
            var request = HTTPRequest("GET", url)
            _ = try await authorizer.authorize(&request)
            #expect(asked.withLock { $0 } == count, "at \(time)")
        }
    }

    @Test func `a cancelled request does not wait for a token, and neither does the next one`() async throws {
        let tokens = Guarded<[Promise<String>]>([])
        let credentials = ReplicationCredentials.bearer {
            // Cancelling does not end this wait.
            let token = Promise<String>()
            tokens.withLock { $0.append(token) }
            return await token.get()
        }
        let url = try HTTPURL(Self.url)
        let authorizer = Authorizer(credentials, server: url, client: NoNetwork())
        func ask() -> Task<String?, any Error> {
            Task {
                var request = HTTPRequest("GET", url)
                return try await authorizer.authorize(&request)
            }
        }
        let first = ask()
        await eventually("a token is requested") { tokens.withLock { $0.count } == 1 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let second = ask()
        await eventually("another token is requested") { tokens.withLock { $0.count } == 2 }
        for (number, token) in tokens.withLock({ $0 }).enumerated() { token.fulfil("token-\(number)") }
        #expect(try await second.value == "token-1")
    }

    @Test func `a token that comes after its request was cancelled is used by the next one`() async throws {
        let credentials = ReplicationCredentials.bearer {
            // A source that succeeds although it was cancelled.
            try? await waitForCancellation()
            return "token"
        }
        let url = try HTTPURL(Self.url)
        let authorizer = Authorizer(credentials, server: url, client: NoNetwork())
        // Nothing reports that the token is kept.
        await eventually("the token is used") {
            let next = Task {
                var request = HTTPRequest("GET", url)
                return try await authorizer.authorize(&request)
            }
            next.cancel()
            return (try? await next.value) == "token"
        }
    }

    @Test(
        arguments: [
            ("AuthSession=abc; Version=1; Max-Age=600; Path=/", 1600), ("AuthSession=abc; HttpOnly", nil),
            ("AuthSession=abc; Expires=Thu, 01-Jan-1970 01:00:00 GMT; Path=/", 3600),
        ] as [(String, Double?)])
    func `the expiry of a session is read`(field: String, end: Double?) {
        let cookie = SessionCookieParser.read(["set-cookie": "a=b", "Set-Cookie": field], now: 1000)
        #expect(cookie?.text == "abc" && cookie?.end == end)
    }

    @Test func `a refused token is requested again once`() async throws {
        let asked = Guarded(0)
        let credentials = ReplicationCredentials.bearer {
            asked.withLock { asked in
                asked += 1
                return "token-\(asked)"
            }
        }
        let server = try RawServer { peer in
            while let request = try peer.readRequest() {
                let isRight = request.head.contains("Bearer token-2\r\n")
                let body = isRight ? "{\"ok\":true}" : "{\"error\":\"unauthorized\",\"reason\":\"no\"}"
                try peer.write("HTTP/1.1 \(isRight ? 200 : 401) X\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let client = DefaultTransport()
        let database = CouchDBConnection(
            database: try HTTPURL(server.url + "/db"), client: client, credentials: credentials)
        #expect(try await database.json("POST", "_x", body: [1]).json["ok"] == true)
        #expect(asked.withLock { $0 } == 2 && server.accepted == 1)
        let fixed = CouchDBConnection(
            database: try HTTPURL(server.url + "/db"), client: client, credentials: .bearer("hunter2"))
        let error = await #expect(throws: CouchDBError.self) { try await fixed.json("GET", "") }
        #expect(error?.description.contains("tried a bearer token") == true)
    }

    @Test(arguments: [
        ("http://couch.example/db", true), ("https://couch.example/db", false), ("http://localhost:5984/db", false),
    ])
    func `a password over an unencrypted connection is warned about`(url: String, isWarnedOf: Bool) throws {
        for credentials in [
            ReplicationCredentials.basic(user: "anna", password: "pw"), .session(user: "anna", password: "pw"),
        ] {
            var warnings: [String] = []
            _ = CouchDBConnection(
                database: try HTTPURL(url), client: NoNetwork(), credentials: credentials
            ) { warnings.append($0) }
            #expect(warnings.count == (isWarnedOf ? 1 : 0) && !warnings.description.contains("pw"))
        }
    }
}
