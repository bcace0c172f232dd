import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct SignedTokenTests {
    private let claims: JSONValue = ["sub": "anna", "exp": 2_000_000_000, "_couchdb.roles": ["a", "b"]]

    private func message(_ algorithm: String, kid: String? = nil, _ claims: JSONValue) -> String {
        var header: JSONValue = ["alg": .string(algorithm), "typ": "JWT"]
        if let kid { header["kid"] = .string(kid) }
        return Base64.encodeForURL(header.utf8) + "." + Base64.encodeForURL(claims.utf8)
    }

    private func signed(_ message: String, _ hash: HashFunction = .sha256, secret: String = "s3cret") -> String {
        message + "." + Base64.encodeForURL(hash.code(of: Array(message.utf8), key: Array(secret.utf8)))
    }

    private func options(_ change: (inout TokenOptions) -> Void = { _ in }) throws -> SignedToken {
        var options = TokenOptions(keys: [try #require(TokenKey(secret: Array("s3cret".utf8)))])
        change(&options)
        return SignedToken(options: options)
    }

    @Test(arguments: [("HS256", HashFunction.sha256), ("HS384", .sha384), ("HS512", .sha512)])
    func `a token with a shared secret gives a name and roles`(name: String, hash: HashFunction) throws {
        let user = try options().user(signed(message(name, claims), hash))
        #expect(user.name == "anna" && user.roles == ["a", "b"] && user.handler == "jwt")
    }

    @Test(arguments: ["RS256", "RS384", "RS512"])
    func `a token signed with an RSA key is accepted, with no other algorithm`(name: String) throws {
        let folder = try TemporaryFolder()
        let openSSL = OpenSSL(folder: folder.path)
        try openSSL.run("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", "k.pem")
        try openSSL.run("pkey", "-in", "k.pem", "-pubout", "-out", "p.pem")
        let pem = try openSSL.text("p.pem")
        let token = try options { $0.keys = [TokenKey(id: "r", pem: pem)].compactMap(\.self) }
        let message = message(name, kid: "r", claims)
        let signature = try openSSL.run(
            "dgst", "-sha" + name.dropFirst(2), "-sign", "k.pem", input: Array(message.utf8))
        #expect(try token.user(message + "." + Base64.encodeForURL(signature)).name == "anna")
        var broken = signature
        broken[broken.count - 1] ^= 1
        #expect(throws: HTTPError.self) { try token.user(message + "." + Base64.encodeForURL(broken)) }
        // The public key as the secret of an HMAC, a classic attack.
        for secret in [pem, pem + "\n"] {
            let forged = signed(self.message("HS256", kid: "r", claims), secret: secret)
            #expect(throws: HTTPError.self) { try token.user(forged) }
        }
        for other in ["ES256", "none", "None", ""] {
            let forged = self.message(other, kid: "r", claims) + "." + Base64.encodeForURL(signature)
            #expect(throws: HTTPError.self) { try token.user(forged) }
        }
    }

    @Test(arguments: [("ES256", "P-256", 32), ("ES384", "P-384", 48), ("ES512", "P-521", 66)])
    func `a token signed with an elliptic key is accepted`(name: String, curve: String, half: Int) throws {
        let folder = try TemporaryFolder()
        let openSSL = OpenSSL(folder: folder.path)
        try openSSL.run("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", "k.pem")
        try openSSL.run("pkey", "-in", "k.pem", "-pubout", "-out", "p.pem")
        let key = try #require(TokenKey(pem: openSSL.text("p.pem")))
        let token = try options { $0.keys = [key] }
        for round in 0..<8 {
            let message = message(name, ["sub": "anna", "exp": 2_000_000_000, "n": .number(JSONNumber(round))])
            let der = try openSSL.run("dgst", "-sha" + name.dropFirst(2), "-sign", "k.pem", input: Array(message.utf8))
            let signature = numbers(der, half)
            #expect(try token.user(message + "." + Base64.encodeForURL(signature)).name == "anna")
            #expect(throws: HTTPError.self) {
                try token.user(message + "." + Base64.encodeForURL([UInt8](repeating: 0, count: 2 * half)))
            }
            #expect(throws: HTTPError.self) { try token.user(message + "." + Base64.encodeForURL(der)) }
        }
        let other = name == "ES256" ? "ES384" : "ES256"
        #expect(throws: HTTPError.self) { try token.user(message(other, claims) + ".AAAA") }
    }

    @Test func `standard claims are checked, also those not required`() throws {
        let token = try options()
        let cases: [(JSONValue, String)] = [
            (["sub": "a", "exp": 1], "exp not in future"),
            (["sub": "a", "exp": "x"], "Invalid exp claim"),
            (["sub": "a"], "Missing exp claim"),
            (["exp": 2_000_000_000], "Token missing sub claim."),
            (["sub": 5, "exp": 2_000_000_000], "Token missing sub claim."),
            (["sub": "a", "exp": 2_000_000_000, "nbf": 3_000_000_000], "nbf not in past"),
            (["sub": "a", "exp": 2_000_000_000, "_couchdb.roles": [1]], "Malformed token"),
        ]
        for (claims, reason) in cases {
            let text = signed(message("HS256", claims))
            #expect { try token.user(text) } throws: { ($0 as? HTTPError)?.reason == reason }
        }
        for text in [
            "", "a.b", "a.b.c", signed(message("HS256", claims)) + "x", signed(message("HS256", claims)) + ".",
        ] {
            #expect(throws: HTTPError.self) { try token.user(text) }
        }
        #expect { try token.user(signed(message("HS256", kid: "x", claims))) } throws: {
            ($0 as? HTTPError)?.reason == "Unknown kid"
        }
    }

    @Test func `an issuer, an audience and a path of roles can be required`() throws {
        let token = try options {
            $0.issuer = "me"
            $0.audience = "db"
            $0.rolesPath = ["realm", "roles"]
        }
        var claims = claims
        #expect(throws: HTTPError.self) { try token.user(signed(message("HS256", claims))) }
        claims["iss"] = "me"
        #expect(throws: HTTPError.self) { try token.user(signed(message("HS256", claims))) }
        claims["aud"] = ["x", "db"]
        #expect(try token.user(signed(message("HS256", claims))).roles == [])
        claims["realm"] = ["roles": "c, d"]
        #expect(try token.user(signed(message("HS256", claims))).roles == ["c", "d"])
    }

    @Test func `an issuer whose name only looks like the required one is refused`() throws {
        // The same letter as one character, and as two.
        let token = try options { $0.issuer = "caf\u{E9}" }
        var claims = claims
        claims["iss"] = "cafe\u{301}"
        #expect(throws: HTTPError.self) { try token.user(signed(message("HS256", claims))) }
        claims["iss"] = "caf\u{E9}"
        #expect(try token.user(signed(message("HS256", claims))).name == "anna")
    }

    @Test func `a secret is valid for its own algorithms only`() throws {
        for name in ["RS256", "ES256", "none", "hs256"] {
            #expect(throws: HTTPError.self) { try options().user(signed(message(name, claims))) }
        }
        #expect(throws: HTTPError.self) { try options().user(signed(message("HS512", claims), .sha256)) }
    }

    @Test func `over HTTP a token authenticates where tokens are enabled`() throws {
        let client = try RouterClient {
            $0.security.tokens = TokenOptions(keys: [TokenKey(secret: Array("s3cret".utf8))].compactMap(\.self))
        }
        let header = "Bearer " + signed(message("HS256", claims))
        let session = try client.send("GET", "/_session", headers: ["Authorization": header])
        #expect(session.json["userCtx"] == ["name": "anna", "roles": ["a", "b"]])
        #expect(try client.send("GET", "/", headers: ["Authorization": header + "x"]).status == 400)
        let off = try RouterClient()
        let nobody = try off.send("GET", "/_session", headers: ["Authorization": header])
        #expect(nobody.json["userCtx"]?["name"] == JSONValue.null)
    }

    @Test func `weak and unknown keys are refused`() throws {
        let folder = try TemporaryFolder()
        let openSSL = OpenSSL(folder: folder.path)
        try openSSL.run("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-out", "k.pem")
        try openSSL.run("pkey", "-in", "k.pem", "-pubout", "-out", "p.pem")
        #expect(try TokenKey(pem: openSSL.text("p.pem")) == nil)
        #expect(TokenKey(pem: "nonsense") == nil && TokenKey(secret: []) == nil)
    }

    /// The two numbers of an ASN.1 signature, concatenated.
    private func numbers(_ der: [UInt8], _ half: Int) -> [UInt8] {
        var index = der[1] & 0x80 == 0 ? 2 : 3
        var result: [UInt8] = []
        for _ in 0..<2 {
            let count = Int(der[index + 1])
            let digits = der[index + 2..<index + 2 + count].drop { $0 == 0 }
            result += [UInt8](repeating: 0, count: half - digits.count) + digits
            index += 2 + count
        }
        return result
    }
}
