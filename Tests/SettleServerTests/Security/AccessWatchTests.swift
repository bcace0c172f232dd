import Foundation
import Settle
import SettleHTTP
import SettleMobile
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Feeds and mobile connections end within seconds after their user's account, password, roles, session or rights have ended.
@Suite(.timeLimit(.minutes(5))) struct AccessWatchTests {
    private static let ben = "/_users/org.couchdb.user:ben"

    /// What ends the access of `ben`.
    enum End: CaseIterable {
        case account, password, roles, membership, conflict, session

        /// The reason that the server sends to a mobile client.
        var reason: String {
            switch self {
            case .account: "The account was deleted."
            case .password: "The password was changed."
            case .roles: "The roles of the account were changed."
            case .membership: "You are not allowed to access this db."
            case .conflict:
                "User document conflicts must be resolved before the document is used for authentication purposes."
            case .session: "The session has expired."
            }
        }

        /// Those that come from outside.
        static let changes = allCases.filter { $0 != .session }
    }

    /// Something that stays open.
    enum Opened: CaseIterable {
        case continuous, eventsource, longpoll, webSocket
    }

    /// Options of a server that checks five times a second.
    private static func quick(_ options: inout ServerOptions) {
        options.port = 0
        options.accessCheckInterval = .milliseconds(200)
    }

    private func prepare(_ client: RouterClient) throws {
        for path in ["/_users", "/db"] { _ = try client.send("PUT", path) }
        for name in ["ben", "eve"] {
            let user = RouterClient.user(name, ["staff"])
            #expect(try client.send("PUT", "/_users/org.couchdb.user:\(name)", user).status == 201)
        }
        try secure(client, names: ["ben", "eve"])
    }

    private func secure(_ client: RouterClient, names: [String]) throws {
        let members: JSONValue = ["names": .array(names.map(JSONValue.string)), "roles": []]
        #expect(try client.send("PUT", "/db/_security", ["members": members]).status == 200)
    }

    private func end(_ what: End, _ client: RouterClient) throws {
        var user = try #require(try client.send("GET", Self.ben).json.object)
        switch what {
        case .account:
            #expect(try client.send("DELETE", "\(Self.ben)?rev=\(user["_rev"]?.string ?? "")").status == 200)
        case .password:
            user["password"] = "other"
            #expect(try client.send("PUT", Self.ben, .object(user)).status == 201)
        case .roles:
            user["roles"] = []
            #expect(try client.send("PUT", Self.ben, .object(user)).status == 201)
        case .membership: try secure(client, names: ["eve"])
        case .conflict:
            user["_rev"] = "1-00000000000000000000000000000000"
            let body: JSONValue = ["docs": [.object(user)], "new_edits": false]
            #expect(try client.send("POST", "/_users/_bulk_docs", body).status == 201)
        case .session: break
        }
    }

    private func open(_ kind: Opened, port: Int, _ credentials: String) throws -> RawConnection {
        let (connection, answer) = try ask(kind, port: port, credentials)
        #expect(answer.hasPrefix(kind == .webSocket ? "HTTP/1.1 101" : "HTTP/1.1 200"), "\(answer)")
        return connection
    }

    /// Asks for something that stays open, and reads the head of the answer.
    private func ask(
        _ kind: Opened, port: Int, _ credentials: String
    ) throws -> (connection: RawConnection, answer: String) {
        let connection = try RawConnection(port: port)
        let head =
            switch kind {
            case .webSocket:
                "GET /db/_blipsync HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: BLIP_3+CBMobile_2\r\n"
            case .continuous: "GET /db/_changes?feed=continuous&since=now&heartbeat=1000 HTTP/1.1\r\nHost: a\r\n"
            case .eventsource: "GET /db/_changes?feed=eventsource&since=now&heartbeat=1000 HTTP/1.1\r\nHost: a\r\n"
            case .longpoll:
                "GET /db/_changes?feed=longpoll&since=now&heartbeat=1000&timeout=600000 HTTP/1.1\r\nHost: a\r\n"
            }
        try connection.write(Array("\(head)\(credentials)\r\n\r\n".utf8))
        return (connection, try connection.read(through: "\r\n\r\n"))
    }

    private func basic(_ name: String) -> String {
        "Authorization: Basic " + Data("\(name):pw".utf8).base64EncodedString()
    }

    private func cookie(_ client: RouterClient, _ name: String) throws -> String {
        let answer = try client.send(as: "", "POST", "/_session", ["name": .string(name), "password": "pw"])
        return "Cookie: \(answer.headers["Set-Cookie"]?.prefix { $0 != ";" } ?? "")"
    }

    /// Sees that a connection ends: a feed with its last piece, a WebSocket with a status after which Couchbase Lite connects
    /// again, and with the reason.
    private func expectEnd(_ connection: RawConnection, _ kind: Opened, _ what: End) throws {
        switch kind {
        case .webSocket:
            let end = try connection.readToEnd().suffix(what.reason.utf8.count + 4)
            let text = String(decoding: end.dropFirst(4), as: UTF8.self)
            #expect(end.first == 0x88 && end.dropFirst(2).prefix(2) == [0x0F, 0xA1], "\(what): \(text)")
            #expect(text == what.reason)
        case .continuous, .eventsource, .longpoll: _ = try connection.read(through: "0\r\n\r\n")
        }
    }

    @Test(arguments: End.changes, Opened.allCases)
    func `what is open ends within seconds, and other users' stays`(what: End, kind: Opened) throws {
        let client = try RouterClient(Self.quick)
        try client.server.start()
        defer { client.server.stop() }
        try prepare(client)
        let port = client.server.port
        let byBasic = try open(kind, port: port, basic("ben"))
        let bySession = try open(kind, port: port, try cookie(client, "ben"))
        let other = try open(.continuous, port: port, basic("eve"))
        let begin = ContinuousClock.now
        try end(what, client)
        try expectEnd(byBasic, kind, what)
        try expectEnd(bySession, kind, what)
        // Without the check the server would end a long poll at its timeout, after ten minutes.
        #expect(ContinuousClock.now - begin < .seconds(300))
        #expect(try client.send("PUT", "/db/new", [:]).status == 201)
        _ = try other.read(through: "\"id\":\"new\"")
    }

    @Test(arguments: End.changes, [Opened.continuous, .webSocket])
    func `what is open on another node ends, too`(what: End, kind: Opened) throws {
        let nodes = try SharedNodes(Self.quick)
        try prepare(nodes.one)
        let opened = try open(kind, port: nodes.two.server.port, basic("ben"))
        try end(what, nodes.one)
        try expectEnd(opened, kind, what)
    }

    @Test(arguments: Opened.allCases)
    func `what a session has opened ends with it`(kind: Opened) throws {
        let client = try RouterClient { options in
            Self.quick(&options)
            options.security.sessionTimeout = .seconds(10)
        }
        try client.server.start()
        defer { client.server.stop() }
        try prepare(client)
        var (opened, answer) = try ask(kind, port: client.server.port, try cookie(client, "ben"))
        // On a busy machine a session may end before it is used.
        while answer.hasPrefix("HTTP/1.1 401") {
            (opened, answer) = try ask(kind, port: client.server.port, try cookie(client, "ben"))
        }
        #expect(answer.hasPrefix(kind == .webSocket ? "HTTP/1.1 101" : "HTTP/1.1 200"), "\(answer)")
        let byBasic = try open(.continuous, port: client.server.port, basic("ben"))
        try expectEnd(opened, kind, .session)
        #expect(try client.send("PUT", "/db/new", [:]).status == 201)
        _ = try byBasic.read(through: "\"id\":\"new\"")
    }

    @Test func `a subscription whose reader may not read any more says so, and is refused at the next handshake`()
        throws
    {
        let client = try RouterClient { $0.port = 0 }
        try client.server.start()
        defer { client.server.stop() }
        try prepare(client)
        for number in 0..<5 {
            try secure(client, names: ["ben", "eve"])
            let connection = try open(.webSocket, port: client.server.port, basic("ben"))
            let blip = BLIPConnection(isServer: false, limits: BLIPLimits(), handler: { _ in })
            blip.send(BLIPMessage(properties: ["Profile": "subChanges", "continuous": "true"]))
            while let bytes = try blip.nextOutput() { try connection.write(bytes) }
            // The subscription is answered.
            #expect(!connection.readWhatComes(first: 300_000, then: 0).bytes.isEmpty)
            try secure(client, names: ["eve"])
            // The subscription may see the change before the watch sees that the user may not read it.
            #expect(try client.send("PUT", "/db/new-\(number)", [:]).status == 201)
            var decoder = WebSocketDecoder(isServer: false, limit: 1 << 20)
            var events: [WebSocketEvent] = []
            let rest = try connection.readToEnd()
            let start = rest.lastIndex(of: 0x88) ?? 0
            Array(rest[start...]).withUnsafeBytes { decoder.append($0) }
            while let event = try decoder.next() { events.append(event) }
            #expect(events == [.close(status: BLIPConnection.mayPass)], "\(rest)")
            #expect(String(decoding: rest, as: UTF8.self).hasSuffix(End.membership.reason))
        }
        let refused = try RawConnection(port: client.server.port)
        let head =
            "GET /db/_blipsync HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: BLIP_3+CBMobile_2\r\n"
        try refused.write(Array("\(head)\(basic("ben"))\r\n\r\n".utf8))
        #expect(try refused.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 403"))
    }

    @Test func `a token counts until its end, and an administrator until the password changes`() throws {
        let client = try RouterClient()
        try prepare(client)
        let authenticator = client.server.state.authenticator
        func isCurrent(_ proof: User.Proof?, _ name: String, _ roles: [String]) throws -> Bool {
            try authenticator.end(of: User(name: name, roles: roles, proof: proof), now: 1000) == nil
        }
        #expect(try isCurrent(.token(end: 1001), "x", []) && isCurrent(.token(end: nil), "x", []))
        #expect(try !isCurrent(.token(end: 1000), "x", []))
        #expect(try isCurrent(nil, "proxied", ["a"]))
        let salt = try #require(client.server.state.administration.hash(of: "admin")).salt
        #expect(try isCurrent(.password(salt: salt), "admin", ["_admin"]))
        #expect(try !isCurrent(.password(salt: salt + "0"), "admin", ["_admin"]))
        #expect(try !isCurrent(.session(salt: salt, end: 1000), "admin", ["_admin"]))
        #expect(try !isCurrent(.password(salt: ""), "nobody", []))
    }

    @Test func `a role that was replaced by one that looks the same counts as changed`() throws {
        let client = try RouterClient.with(users: [:])
        // The same letter as one character, and as two.
        let (own, other) = ("caf\u{E9}", "cafe\u{301}")
        #expect(try client.send("PUT", Self.ben, RouterClient.user("ben", [own])).status == 201)
        let state = client.server.state
        let salt = try #require(try state.authenticator.accounts.find("ben", in: state.databases)).salt
        func isCurrent(_ role: String) throws -> Bool {
            try state.authenticator.end(of: User(name: "ben", roles: [role], proof: .password(salt: salt))) == nil
        }
        #expect(try isCurrent(own))
        #expect(try !isCurrent(other))
    }

    @Test func `a feed stays open when a user whose name looks the same loses access`() throws {
        let client = try RouterClient { options in
            Self.quick(&options)
            options.security.proxy = ProxyOptions(secret: "shared")
        }
        try client.server.start()
        defer { client.server.stop() }
        #expect(try client.send("PUT", "/db").status == 201)
        // The same letter as one character, and as two.
        let names = ["jos\u{E9}", "jose\u{301}"]
        try secure(client, names: names)
        let feeds = try names.map { name in
            let code = HashFunction.sha256.code(of: Array(name.utf8), key: Array("shared".utf8))
            let headers = "X-Auth-CouchDB-UserName: \(name)\r\nX-Auth-CouchDB-Token: \(Hexadecimal.encode(code))"
            return try open(.continuous, port: client.server.port, headers)
        }
        try secure(client, names: [names[1]])
        _ = try feeds[0].read(through: "0\r\n\r\n")
        #expect(try client.send("PUT", "/db/new", [:]).status == 201)
        _ = try feeds[1].read(through: "\"id\":\"new\"")
    }

    @Test func `a feed of all databases ends when its user is no longer an administrator`() throws {
        let client = try RouterClient { $0.port = 0 }
        try client.server.start()
        defer { client.server.stop() }
        try client.server.setAdministrator("ann", password: "pw")
        _ = try client.send("PUT", "/_global_changes")
        let connection = try RawConnection(port: client.server.port)
        try connection.write(
            Array("GET /_db_updates?feed=continuous&heartbeat=1000 HTTP/1.1\r\nHost: a\r\n\(basic("ann"))\r\n\r\n".utf8)
        )
        #expect(try connection.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        try client.server.setAdministrator("ann", password: "other")
        _ = try connection.read(through: "0\r\n\r\n")
    }
}
