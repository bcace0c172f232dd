import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// How a client has reached the server, and the addresses and cookies that it gets.
@Suite(.timeLimit(.minutes(5))) struct ClientRouteTests {
    @Test(
        arguments: [
            (["X-Forwarded-Proto": "https"], true, nil, ""), (["X-Forwarded-Ssl": "on"], true, nil, ""),
            (["X-Forwarded-Proto": "http", "X-Forwarded-Ssl": "on"], false, nil, ""),
            (["X-Forwarded-Proto": "http, https"], true, nil, ""), (["X-Forwarded-Proto": "ftp"], false, nil, ""),
            (["X-Forwarded-Host": "evil, a.example:6984"], false, "a.example:6984", ""),
            (["X-Forwarded-Host": "a.example/x"], false, nil, ""),
            (["X-Forwarded-Host": "b@a.example"], false, nil, ""),
            (
                ["Forwarded": "for=1.2.3.4;proto=http;host=x, FOR=5.6.7.8; Proto=https; host=\"[::1]:8\""], true,
                "[::1]:8", ""
            ),
            (["Forwarded": "proto=https", "X-Forwarded-Host": "a.example"], true, "a.example", ""),
            (["X-Forwarded-Host": "a.example", "X-Forwarded-Prefix": "/couch/"], false, "a.example", "/couch"),
            (["X-Forwarded-Prefix": "//evil.example"], false, nil, ""), (["X-Forwarded-Prefix": "/"], false, nil, ""),
        ] as [([String: String], Bool, String?, String)])
    func `only a trusted proxy decides`(given: [String: String], isSecure: Bool, host: String?, prefix: String) {
        var headers = HTTPHeaders()
        for (name, value) in given { headers.add(name, value) }
        let route = ClientRoute(headers, isTLS: false, isTrusted: true)
        #expect(route.isSecure == isSecure && route.host == host && route.prefix == prefix)
        let untrusted = ClientRoute(headers, isTLS: false, isTrusted: false)
        #expect(!untrusted.isSecure && untrusted.host == nil && untrusted.prefix.isEmpty)
        #expect(ClientRoute(headers, isTLS: true, isTrusted: false).isSecure)
    }

    private func live(trusting ranges: [String] = []) throws -> LiveServer {
        let live = try LiveServer { $0.security.trustedProxies = ranges.compactMap { NetworkRange($0) } }
        _ = try live.send("PUT", "/db")
        return live
    }

    private func head(
        _ live: LiveServer, _ method: String, _ path: String, _ headers: [String], _ body: String = ""
    ) throws
        -> [String]
    {
        let connection = try live.connect()
        let given = (headers + ["Authorization: Basic YWRtaW46YWRtaW4=", "Content-Length: \(body.utf8.count)"])
        let type = body.isEmpty ? "" : "Content-Type: application/json\r\n"
        try connection.write(
            Array(("\(method) \(path) HTTP/1.1\r\n\(type)" + given.map { $0 + "\r\n" }.joined() + "\r\n" + body).utf8))
        return try connection.readAnswer().head.split(separator: "\r\n").map(String.init)
    }

    private func location(_ head: [String]) -> String? {
        head.first { $0.hasPrefix("Location: ") }.map { String($0.dropFirst(10)) }
    }

    @Test func `a client without a proxy gets absolute addresses of its own host`() throws {
        let live = try live()
        #expect(location(try head(live, "PUT", "/db/a", ["Host: couch.example"], "{}")) == "http://couch.example/db/a")
        #expect(location(try head(live, "PUT", "/two", ["Host: couch.example"])) == "http://couch.example/two")
    }

    @Test(arguments: [[], ["10.0.0.0/8"]])
    func `behind an untrusted proxy addresses are relative, and its headers don't count`(
        ranges: [String]
    ) throws {
        let live = try live(trusting: ranges)
        let forwarded = [
            "Host: couch.example", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "X-Forwarded-Ssl: on",
            "X-Forwarded-Prefix: /evil", "Forwarded: host=evil.example;proto=https",
        ]
        #expect(location(try head(live, "PUT", "/db/a%2Fb", forwarded, "{}")) == "../db/a%2Fb")
        #expect(location(try head(live, "PUT", "/db/c/x", forwarded, "1")) == "../../db/c/x")
        #expect(location(try head(live, "POST", "/db", forwarded, #"{"_id":"d"}"#)) == "./db/d")
        #expect(location(try head(live, "PUT", "/two", forwarded)) == "./two")
        let login = try head(live, "POST", "/_session?next=/db", forwarded, #"{"name":"admin","password":"admin"}"#)
        #expect(location(login) == "/db")
        #expect(
            login.contains { $0.hasPrefix("Set-Cookie: ") && !$0.contains("Secure") && $0.contains("; SameSite=Lax") })
    }

    @Test func `behind a trusted proxy that names the host addresses are the client's, and cookies are for TLS alone`()
        throws
    {
        let live = try live(trusting: ["127.0.0.1"])
        let forwarded = ["Host: 127.0.0.1:1", "X-Forwarded-Host: couch.example", "X-Forwarded-Proto: https"]
        #expect(location(try head(live, "PUT", "/db/a", forwarded, "{}")) == "https://couch.example/db/a")
        let prefixed = forwarded + ["X-Forwarded-Prefix: /couch"]
        #expect(location(try head(live, "PUT", "/db/b", prefixed, "{}")) == "https://couch.example/couch/db/b")
        let login = try head(live, "POST", "/_session", forwarded, #"{"name":"admin","password":"admin"}"#)
        #expect(login.contains { $0.hasPrefix("Set-Cookie: ") && $0.contains("; Secure;") })
        let logout = try head(live, "DELETE", "/_session", forwarded)
        #expect(logout.contains { $0.hasPrefix("Set-Cookie: ") && $0.contains("; Secure;") })
        // A proxy that names no host may still add a prefix.
        let unnamed = ["Host: couch.example", "X-Forwarded-Proto: https"]
        #expect(location(try head(live, "PUT", "/db/c", unnamed, "{}")) == "../db/c")
        let plain = ["Host: couch.example", "X-Forwarded-Proto: http"]
        let other = try head(live, "POST", "/_session", plain, #"{"name":"admin","password":"admin"}"#)
        #expect(other.contains { $0.hasPrefix("Set-Cookie: ") && !$0.contains("Secure") })
    }

    @Test func `the redirect to a design document is relative everywhere`() throws {
        let live = try live()
        _ = try live.send("PUT", "/db/_design/x", "{}")
        for path in ["/db/_design%2Fx", "/db/_design%2fx"] {
            #expect(location(try head(live, "GET", path, ["Host: couch.example"])) == "../db/_design/x")
        }
    }

    @Test(arguments: ["//evil.example", "/%5Cevil.example", "///evil.example"])
    func `a redirect after login leads to no other host`(path: String) throws {
        let live = try live()
        let body = #"{"name":"admin","password":"admin"}"#
        for host in [["Host: couch.example"], ["Host: couch.example", "Via: 1.1 proxy"]] {
            #expect(try head(live, "POST", "/_session?next=\(path)", host, body)[0].contains(" 400 "))
        }
    }

    @Test(arguments: [
        ["Host: a.example", "Host: a.example"], ["Host: a.example", "Host: b.example"], [],
        ["Host: a.example, b.example"],
        ["Host: a.example/db"], ["Host: user@a.example"],
    ])
    func `a request without one host is refused`(hosts: [String]) throws {
        #expect(try head(live(), "GET", "/", hosts)[0].contains(" 400 "))
    }
}
