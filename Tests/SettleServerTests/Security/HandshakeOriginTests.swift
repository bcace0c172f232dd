import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Pages of other origins can't open a WebSocket, whatever credentials a browser adds; tested over real sockets.
@Suite(.timeLimit(.minutes(5))) struct HandshakeOriginTests {
    private static let basic = "Authorization: Basic YWRtaW46YWRtaW4="

    private func status(_ live: LiveServer, _ headers: [String], host: String = "couch.example:5984") throws -> Int {
        let connection = try live.connect()
        let fixed = [
            "Host: \(host)", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: BLIP_3+CBMobile_3",
        ]
        let head = "GET /db/_blipsync HTTP/1.1\r\n" + (fixed + headers).map { $0 + "\r\n" }.joined() + "\r\n"
        try connection.write(Array(head.utf8))
        return Int(try connection.read(through: "\r\n\r\n").dropFirst(9).prefix(3)) ?? 0
    }

    private func live(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> LiveServer {
        let live = try LiveServer(change)
        try live.server.state.create("db")
        return live
    }

    private func cookie(_ live: LiveServer) throws -> String {
        let head = try live.send("POST", "/_session", #"{"name":"admin","password":"admin"}"#).head
        let value = try #require(head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("set-cookie:") })
        return "Cookie: " + value.dropFirst(12).prefix { $0 != ";" }
    }

    @Test(arguments: [
        "https://evil.example", "null", "", "http://couch.example", "http://couch.example:5985",
        "https://couch.example",
        "http://couch.example:5984.evil.example", "http://sub.couch.example:5984", "file://", "http://",
        "capacitor://localhost",
    ])
    func `a foreign origin is refused with a cookie, a password and a proxy's headers`(origin: String) throws {
        let live = try live {
            $0.security.proxy = ProxyOptions(secret: "shared")
        }
        let token = HashFunction.sha256.code(of: Array("admin".utf8), key: Array("shared".utf8))
        let proxied = [
            "X-Auth-CouchDB-UserName: admin", "X-Auth-CouchDB-Roles: _admin",
            "X-Auth-CouchDB-Token: \(token.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())",
        ]
        for credentials in [[try cookie(live)], [Self.basic], proxied] {
            #expect(try status(live, credentials) == 101)
            #expect(try status(live, credentials + ["Origin: \(origin)"]) == 403)
            #expect(try status(live, credentials + ["Origin: \(origin)", "Sec-Fetch-Site: none"]) == 403)
            #expect(try status(live, credentials + ["Sec-Fetch-Site: cross-site"]) == 403)
            #expect(
                try status(live, credentials + ["Origin: \(origin)", "X-Forwarded-Host: \(origin.dropFirst(8))"]) == 403
            )
        }
    }

    @Test func `an open database is closed to foreign pages, too`() throws {
        let live = try live()
        _ = try live.send(
            "PUT", "/db/_security", #"{"members":{"names":[],"roles":[]},"admins":{"names":[],"roles":[]}}"#)
        #expect(try status(live, []) == 101)
        #expect(try status(live, ["Origin: https://evil.example"]) == 403)
    }

    @Test func `the server's own pages and the origins of CORS may connect`() throws {
        let live = try live { options in
            options.security.crossOrigin = CrossOriginOptions(origins: ["https://app.example"])
            options.security.crossOrigin?.allowsCredentials = true
        }
        let login = [try cookie(live)]
        for origin in ["http://couch.example:5984", "https://COUCH.example:5984", "https://app.example"] {
            #expect(try status(live, login + ["Origin: \(origin)"]) == 101, "\(origin)")
        }
        #expect(try status(live, login + ["Origin: https://couch.example"], host: "couch.example") == 101)
        #expect(try status(live, login + ["Origin: https://couch.example"], host: "couch.example:443") == 101)
        #expect(try status(live, login + ["Origin: http://couch.example:80"], host: "couch.example") == 101)
        #expect(try status(live, login + ["Origin: https://app.example:444"]) == 403)
    }

    @Test func `an origin of CORS without credentials may not connect`() throws {
        for origins in [["https://app.example"], ["*"]] as [Set<String>] {
            let live = try live { $0.security.crossOrigin = CrossOriginOptions(origins: origins) }
            #expect(try status(live, [Self.basic, "Origin: https://app.example"]) == 403)
        }
    }

    @Test func `the host that a trusted proxy names is the server's own`() throws {
        let live = try live { $0.security.trustedProxies = [NetworkRange("127.0.0.1")].compactMap(\.self) }
        let proxied = [Self.basic, "X-Forwarded-Host: app.example", "X-Forwarded-Proto: https"]
        #expect(try status(live, proxied + ["Origin: https://app.example"], host: "127.0.0.1") == 101)
        #expect(try status(live, proxied + ["Origin: https://evil.example"], host: "127.0.0.1") == 403)
    }
}
