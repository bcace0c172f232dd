import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// The cookie that spares a client a derivation after a restart.
@Suite struct PasswordTicketTests {
    private static func basic(_ credentials: String) -> String { "Basic " + Base64.encode(Array(credentials.utf8)) }

    /// The ticket in an answer, as a client sends it back.
    private static func ticket(_ answer: Answer) -> String? {
        answer.headers.fields.first { $0.name == "Set-Cookie" && $0.value.hasPrefix("AuthTicket=") }
            .map { String($0.value.prefix { $0 != ";" }) }
    }

    private static func client(in folder: TemporaryFolder) throws -> RouterClient {
        let store: (TemporaryFolder) throws -> any DatabaseStore = { _ in try DocumentStore(path: folder.path) }
        return try RouterClient(store: store) { $0.security.admins = [:] }
    }

    private static func request(_ headers: HTTPHeaders) -> ServerRequest {
        ServerRequest(method: "GET", target: RequestTarget("/_session"), headers: headers, body: BufferedBody())
    }

    @Test func `a client that sends its password with each request needs no derivation after a restart`() throws {
        let folder = try TemporaryFolder()
        let first = try Self.client(in: folder)
        try first.server.setAdministrator("admin", password: "admin")
        #expect(try first.send("PUT", "/_users").status == 201)
        #expect(try first.send("PUT", "/_users/org.couchdb.user:anna", RouterClient.user("anna")).status == 201)
        let tickets = try ["anna:pw", "admin:admin"].map { try first.server.state.authenticator.ticket(of: $0) }
        first.server.stop()

        let second = try Self.client(in: folder)
        defer { second.server.stop() }
        // As at each start with `--admin`.
        try second.server.setAdministrator("admin", password: "admin")
        _ = try second.server.state.databases.open("_users")
        let authenticator = second.server.state.authenticator
        for (credentials, ticket) in zip(["anna:pw", "admin:admin"], tickets) {
            let basic = Self.basic(credentials)
            // Without the ticket the password has to be verified.
            #expect(throws: PendingLogin.self) { try authenticator.user(of: Self.request(["Authorization": basic])) }
            let headers: HTTPHeaders = ["Authorization": basic, "Cookie": ticket]
            let name = String(credentials.prefix { $0 != ":" })
            #expect(try authenticator.userAtHand(of: Self.request(headers)).name == name)
            #expect(try authenticator.user(of: Self.request(headers)).name == name)
        }
    }

    @Test func `the answer to a login by password has a ticket, and later answers have none`() throws {
        let client = try RouterClient.with(users: ["anna": []])
        let answer = try client.send(as: "anna:pw", "GET", "/_session")
        #expect(answer.status == 200 && Self.ticket(answer) != nil)
        #expect(try Self.ticket(client.send(as: "anna:pw", "GET", "/_session")) == nil)
        #expect(try Self.ticket(client.send(as: "anna:no", "GET", "/_session")) == nil)
    }

    @Test func `a ticket is useless without the password, for another name and after a new password`() throws {
        let client = try RouterClient.with(users: ["anna": [], "bert": []])
        let ticket = try #require(Self.ticket(client.send(as: "anna:pw", "GET", "/_session")))
        let authenticator = client.server.state.authenticator
        let alone = try authenticator.user(of: Self.request(["Cookie": ticket]))
        #expect(alone.name == nil)
        for credentials in ["anna:no", "bert:pw", "nobody:pw"] {
            #expect(throws: PendingLogin.self) {
                try authenticator.user(
                    of: Self.request(["Cookie": ticket, "Authorization": Self.basic(credentials)]))
            }
        }
        let document = try client.send("GET", "/_users/org.couchdb.user:anna").json
        var changed = RouterClient.user("anna", password: "other")
        changed["_rev"] = document["_rev"]
        #expect(try client.send("PUT", "/_users/org.couchdb.user:anna", changed).status == 201)
        for credentials in ["anna:pw", "anna:other"] {
            #expect(throws: PendingLogin.self) {
                try authenticator.user(
                    of: Self.request(["Cookie": ticket, "Authorization": Self.basic(credentials)]))
            }
        }
    }

    @Test func `a ticket is valid for its time only, and for no other secret`() throws {
        let tickets = PasswordTicket(lifetime: 1000)
        let hash = PasswordHash(of: [1], iterations: 1)
        let credentials = PasswordTicket.Credentials(name: "anna", password: [1], hash: hash)
        let secret = Array("secret".utf8)
        let value = tickets.value(credentials, secret: secret, now: 5000)
        func age(_ now: Int, _ value: String = value, _ secret: [UInt8] = secret) -> Int? {
            tickets.age(value, credentials, secret: secret, now: now)
        }
        #expect(age(5000) == 0 && age(5999) == 999 && age(6000) == nil && age(4939) == nil && age(4950) == 0)
        #expect(age(5000, value, [1]) == nil)
        #expect(!tickets.needsRenewal(500) && tickets.needsRenewal(501))
        for bad in ["", "x", ":", String(repeating: "A", count: 500), String(value.dropLast()), value + "A"] {
            #expect(age(5000, bad) == nil)
        }
        #expect(PasswordTicket(lifetime: 0).age(value, credentials, secret: secret, now: 5000) == nil)
    }

    @Test func `a server without tickets gives none`() throws {
        let client = try RouterClient { $0.security.ticketLifetime = .zero }
        #expect(try Self.ticket(client.send("GET", "/_session")) == nil)
    }
}

extension Authenticator {
    /// The ticket that a login gives, as a client sends it back.
    fileprivate func ticket(of credentials: String) throws -> String {
        let parts = credentials.split(separator: ":").map(String.init)
        let account = try #require(try login(parts[0], Array(parts[1].utf8), peer: ""))
        let outcome = Monitor<Result<User, any Error>?>(nil)
        finish(PendingLogin(name: parts[0], password: Array(parts[1].utf8), account: account, peer: "")) { result in
            outcome.update { $0 = result }
        }
        let cookie = try #require(try outcome.wait { $0 }.get().renewedCookie)
        return String(cookie.prefix { $0 != ";" })
    }
}
