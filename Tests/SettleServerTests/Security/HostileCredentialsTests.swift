import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleServer

/// Malformed credentials are refused, and never crash the server.
@Suite struct HostileCredentialsTests {
    private static let pieces = [
        "", ":", "::", "a", "admin", "\u{0}", "é", "=", "==", ".", "..", "-pbkdf2:", "-hashed-", ",", "sha256-", "eyJ9",
        "{}",
        "7fffffffffffffff", "-1", "%", "AAAA", "////", "____", "\"", ";", "\u{FFFF}", "YWRtaW46", "Basic ", "Bearer ",
    ]

    @Test func `parsers survive any input`() throws {
        var generator = SystemRandomNumberGenerator()
        let key = try #require(TokenKey(secret: [1]))
        let token = SignedToken(options: TokenOptions(keys: [key]))
        let cookies = SessionCookie(options: SecurityOptions(), isSecure: false)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<8, using: &generator)
            let text = (0..<count).compactMap { _ in Self.pieces.randomElement(using: &generator) }.joined()
            let encoded = Base64.encodeForURL(Array(text.utf8))
            #expect(Base64.decodeFromURL(encoded) == Array(text.utf8))
            _ = Hexadecimal.decode(text)
            _ = PasswordHash(line: text)
            for value in [text, encoded] {
                if let content = try? SessionCookie.read(value) {
                    #expect(!cookies.isValid(content, salt: "s", secret: [1]))
                    _ = cookies.needsRenewal(content)
                }
                #expect(throws: (any Error).self) { try token.user(value) }
            }
            #expect(throws: (any Error).self) { try token.user("\(encoded).\(encoded).\(encoded)") }
        }
    }

    @Test func `a request with hostile credentials is answered`() throws {
        let client = try RouterClient.with(users: [:]) {
            $0.security.tokens = TokenOptions(keys: [TokenKey(secret: [1])].compactMap(\.self))
            $0.security.proxy = ProxyOptions(secret: "x")
            $0.security.lockoutThreshold = 0
        }
        for piece in Self.pieces {
            for scheme in ["Basic ", "Bearer ", "basic ", ""] {
                let answer = try client.send("GET", "/_all_dbs", headers: ["Authorization": scheme + piece])
                #expect([400, 401].contains(answer.status))
            }
            for cookie in ["AuthSession=" + piece, "AuthSession=" + Base64.encodeForURL(Array(piece.utf8)), piece] {
                let answer = try client.send("GET", "/_all_dbs", headers: ["Cookie": cookie])
                #expect([400, 401].contains(answer.status))
            }
            let proxied = try client.send(
                as: "", "GET", "/_all_dbs",
                headers: [
                    "X-Auth-CouchDB-UserName": "a", "X-Auth-CouchDB-Roles": "_admin", "X-Auth-CouchDB-Token": piece,
                ])
            #expect(proxied.status == 401)
        }
    }
}
