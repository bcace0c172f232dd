import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleServer

@Suite struct SessionTests {
    private func login(_ client: RouterClient, _ name: String, _ password: String = "pw") throws -> Answer {
        try client.send(
            as: "", "POST", "/_session", ["name": .string(name), "password": .string(password)])
    }

    private func cookie(_ answer: Answer) throws -> String {
        let header = try #require(answer.headers["Set-Cookie"])
        return String(header.prefix { $0 != ";" })
    }

    @Test func `a cookie has CouchDB's form, and gives its owner's access`() throws {
        let client = try RouterClient.with(users: ["anna": ["writer"]])
        let answer = try login(client, "anna")
        #expect(answer.status == 200 && answer.json["roles"] == ["writer"])
        let header = try #require(answer.headers["Set-Cookie"])
        #expect(header.contains("; Path=/; HttpOnly") && header.contains("Max-Age=600") && !header.contains("Secure"))
        let value = try cookie(answer)
        let bytes = try #require(Base64.decodeFromURL(value.dropFirst("AuthSession=".count)))
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 2)
        #expect(String(decoding: parts[0], as: UTF8.self) == "anna" && parts[2].count == 32)
        let session = try client.send("GET", "/_session", headers: ["Cookie": value])
        #expect(session.json["userCtx"] == ["name": "anna", "roles": ["writer"]])
        #expect(session.json["info"]?["authenticated"] == "cookie")
        let logout = try client.send("DELETE", "/_session", headers: ["Cookie": value])
        #expect(logout.headers["Set-Cookie"]?.hasPrefix("AuthSession=;") == true)
    }

    @Test func `no bit of a cookie can be changed`() throws {
        let client = try RouterClient.with(users: ["anna": []])
        let value = try cookie(login(client, "anna"))
        var bytes = try #require(Base64.decodeFromURL(value.dropFirst("AuthSession=".count)))
        for index in bytes.indices {
            bytes[index] ^= 1
            let answer = try client.send(
                "GET", "/_session", headers: ["Cookie": "AuthSession=" + Base64.encodeForURL(bytes)])
            #expect(answer.json["userCtx"]?["name"]?.string == nil)
            bytes[index] ^= 1
        }
    }

    @Test func `a session expires, is renewed before, and ends with the password`() throws {
        let cookies = SessionCookie(options: SecurityOptions(), isSecure: true)
        let header = cookies.header("anna", salt: "s", secret: [1], now: 1000)
        #expect(header.contains("; Secure; HttpOnly"))
        let content = try SessionCookie.read(String(header.prefix { $0 != ";" }.dropFirst("AuthSession=".count)))
        #expect(cookies.isValid(content, salt: "s", secret: [1], now: 1599))
        #expect(!cookies.isValid(content, salt: "s", secret: [1], now: 1600))
        #expect(!cookies.isValid(content, salt: "s", secret: [1], now: 900))
        #expect(!cookies.isValid(content, salt: "t", secret: [1], now: 1001))
        #expect(!cookies.isValid(content, salt: "s", secret: [2], now: 1001))
        #expect(!cookies.needsRenewal(content, now: 1060) && cookies.needsRenewal(content, now: 1061))

        let client = try RouterClient.with(users: ["anna": []])
        let value = try cookie(login(client, "anna"))
        let document = try client.send("GET", "/_users/org.couchdb.user:anna").json
        var changed = RouterClient.user("anna", password: "other")
        changed["_rev"] = document["_rev"]
        #expect(try client.send("PUT", "/_users/org.couchdb.user:anna", changed).status == 201)
        let session = try client.send("GET", "/_session", headers: ["Cookie": value])
        #expect(session.json["userCtx"]?["name"] == JSONValue.null)
        #expect(try client.send(as: "anna:pw", "GET", "/").status == 401)
        #expect(try client.send(as: "anna:other", "GET", "/").status == 200)
    }

    @Test func `an answer to an aging session has a new cookie`() throws {
        let client = try RouterClient.with(users: ["anna": []]) { $0.security.sameSite = .strict }
        let server = client.server.state
        let account = try #require(try server.authenticator.accounts.find("anna", in: server.databases))
        let old = server.authenticator.cookies.header(
            "anna", salt: account.salt, secret: server.administration.secret, now: SessionCookie.now - 300)
        let answer = try client.send("GET", "/_session", headers: ["Cookie": String(old.prefix { $0 != ";" })])
        let renewed = try #require(answer.headers["Set-Cookie"])
        #expect(renewed.hasPrefix("AuthSession=") && renewed.hasSuffix("SameSite=Strict"))
    }

    @Test func `a redirect after login stays on this server`() throws {
        let client = try RouterClient.with(users: ["anna": []])
        let body: JSONValue = ["name": "anna", "password": "pw"]
        let answer = try client.send(as: "", "POST", "/_session?next=/db", body)
        #expect(answer.status == 302 && answer.headers["Location"] == "http://test/db")
        for path in ["http://evil", "@evil", "evil", "/a%0d%0aSet-Cookie:x"] {
            #expect(try client.send(as: "", "POST", "/_session?next=\(path)", body).status == 400)
        }
    }

    @Test func `five failures lock a name for an address only`() throws {
        let client = try RouterClient.with(users: ["anna": [], "bert": []])
        for _ in 0..<5 { #expect(try client.send(as: "anna:no", "GET", "/").status == 401) }
        let locked = try client.send(as: "anna:pw", "GET", "/")
        #expect(locked.error == "forbidden: Account is temporarily locked due to multiple authentication failures")
        #expect(try login(client, "anna").status == 403)
        #expect(try client.send(as: "bert:pw", "GET", "/").status == 200)
        let authenticator = client.server.state.authenticator
        #expect(try authenticator.login("anna", Array("pw".utf8), peer: "192.0.2.9")?.name == "anna")
        for _ in 0..<5 { #expect(try client.send(as: "nobody:x", "GET", "/").status == 401) }
        #expect(try client.send(as: "nobody:x", "GET", "/").status == 403)
    }

    @Test func `a lock expires`() throws {
        let lockout = LoginLockout(threshold: 1, seconds: 0)
        lockout.fail("p", "n", "s")
        try lockout.check("p", "n", "s")
        let lasting = LoginLockout(threshold: 1, seconds: 60)
        lasting.fail("p", "n", "s")
        #expect(throws: HTTPError.self) { try lasting.check("p", "n", "s") }
        try lasting.check("p", "n", "t")
    }

    @Test func `a browser is asked for a password only where this is enabled`() throws {
        let client = try RouterClient.with(users: [:])
        #expect(try client.send(as: "", "GET", "/db").headers["WWW-Authenticate"] == nil)
        let asked = try client.send(as: "", "GET", "/db", headers: ["X-CouchDB-WWW-Authenticate": "Cookie"])
        #expect(asked.headers["WWW-Authenticate"] == "Cookie")
        let strict = try RouterClient { $0.security.anonymousAccess = .upOnly }
        #expect(try strict.send(as: "", "GET", "/").headers["WWW-Authenticate"] == "Basic realm=\"server\"")
    }

    @Test func `a proxy's headers count only with its token`() throws {
        let client = try RouterClient { $0.security.proxy = ProxyOptions(secret: "s3cret") }
        let code = Hexadecimal.encode(HashFunction.sha256.code(of: Array("anna".utf8), key: Array("s3cret".utf8)))
        var headers: HTTPHeaders = [
            "X-Auth-CouchDB-UserName": "anna", "X-Auth-CouchDB-Roles": "a, b", "X-Auth-CouchDB-Token": code,
        ]
        let answer = try client.send(as: "", "GET", "/_session", headers: headers)
        #expect(answer.json["userCtx"] == ["name": "anna", "roles": ["a", "b"]])
        headers["X-Auth-CouchDB-UserName"] = "bert"
        #expect(
            try client.send(as: "", "GET", "/_session", headers: headers).json["userCtx"]?["name"] == JSONValue.null)
        headers["X-Auth-CouchDB-Token"] = nil
        #expect(
            try client.send(as: "", "GET", "/_session", headers: headers).json["userCtx"]?["name"] == JSONValue.null)
        let off = try RouterClient()
        #expect(try off.send(as: "", "GET", "/_session", headers: headers).json["userCtx"]?["name"] == JSONValue.null)
        #expect(ProxyOptions(secret: "") == nil)
    }

    @Test(arguments: [["key": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"] as JSONValue, .null, "on"])
    func `a password alone does not open an account with a second factor`(totp: JSONValue) throws {
        let client = try RouterClient.with(users: [:])
        var user = try #require(RouterClient.user("anna").object)
        user["totp"] = totp
        #expect(try client.send("PUT", "/_users/org.couchdb.user:anna", .object(user)).status == 201)
        let wrong = "unauthorized: Name or password is incorrect."
        #expect(try client.send(as: "anna:pw", "GET", "/").error == wrong)
        #expect(try login(client, "anna").error == wrong)
    }
}
