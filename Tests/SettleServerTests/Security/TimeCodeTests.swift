import Foundation
import Settle
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

@Suite struct TimeCodeTests {
    private static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

    /// The vectors of RFC 6238, appendix B.
    @Test(arguments: [
        ("sha", 59, "94287082"), ("sha", 1_111_111_109, "07081804"), ("sha", 20_000_000_000, "65353130"),
    ])
    func `codes equal the standard's examples`(algorithm: String, time: Int, code: String) throws {
        let wanted: JSONValue = ["key": .string(Self.secret), "algorithm": .string(algorithm), "length": 8]
        let maker = try #require(TimeCode(wanted))
        #expect(maker.code(at: time) == code)
        for offset in [-30, 0, 30] { #expect(maker.accepts(code, now: time + offset)) }
        for offset in [-90, 90] { #expect(!maker.accepts(code, now: time + offset)) }
        for other in ["", "0", String(code.dropFirst()), "0" + code] { #expect(!maker.accepts(other, now: time)) }
        let short = try #require(TimeCode(["key": .string(Self.secret)]))
        #expect(short.code(at: time) == String(code.suffix(6)))
    }

    @Test(arguments: [
        JSONValue.null, "x", [:], ["key": 1], ["key": ""], ["key": "1!"], ["key": "GEZDGNBV", "algorithm": "md5"],
        ["key": "GEZDGNBV", "length": 9], ["key": "GEZDGNBV", "length": 0],
    ])
    func `a malformed secret makes no code`(json: JSONValue) { #expect(TimeCode(json) == nil) }

    @Test func `password and code together open a session`() throws {
        let client = try RouterClient.with(users: [:]) { $0.security.lockoutThreshold = 0 }
        let totp: JSONValue = ["key": .string(Self.secret)]
        var user = try #require(RouterClient.user("anna").object)
        user["totp"] = totp
        #expect(try client.send("PUT", "/_users/org.couchdb.user:anna", .object(user)).status == 201)
        let code = try #require(TimeCode(totp)).code(at: SessionCookie.now)
        let login = { (password: JSONValue, code: String) in
            try client.send(
                as: "", "POST", "/_session", ["name": "anna", "password": password, "token": .string(code)])
        }
        for wrong in ["", "x", code + "0"] { #expect(try login("pw", wrong).status == 401) }
        #expect(try login("other", code).status == 401)
        let answer = try login("pw", code)
        #expect(answer.status == 200)
        let cookie = try #require(answer.headers["Set-Cookie"]).prefix { $0 != ";" }
        let session = try client.send("GET", "/_session", headers: ["Cookie": String(cookie)])
        #expect(session.json["userCtx"]?["name"] == "anna")
        // The code is used up, also for a server that starts now.
        #expect(try login("pw", code).status == 401)
        let next = try #require(TimeCode(totp)).code(at: SessionCookie.now + 30)
        #expect(try login("pw", next).status == 200)
        for used in [next, code] { #expect(try login("pw", used).status == 401) }
    }

    @Test func `a code that can't be written yet does not hold up other logins`() throws {
        let names = ["anna", "ben", "cleo", "dora"]
        let client = try RouterClient.with(users: ["emil": []]) { $0.security.lockoutThreshold = 0 }
        let totp: JSONValue = ["key": .string(Self.secret)]
        for name in names {
            var user = try #require(RouterClient.user(name).object)
            user["totp"] = totp
            #expect(try client.send("PUT", "/_users/org.couchdb.user:\(name)", .object(user)).status == 201)
        }
        // The code of the next half minute, which is accepted already, and for at least half a minute more.
        let code = try #require(TimeCode(totp)).code(at: SessionCookie.now + 30)
        let answers = Guarded<[Int?]>([])
        try client.server.state.databases.open("_users").transaction { () throws in
            for name in names {
                Thread.detachNewThread {
                    let body: JSONValue = ["name": .string(name), "password": "pw", "token": .string(code)]
                    let answer = try? client.send(as: "", "POST", "/_session", body)
                    answers.withLock { $0.append(answer?.status) }
                }
            }
            // More logins than threads that derive keys: these would wait if one of those waited for the database.
            for number in 0..<20 {
                let body: JSONValue = ["name": "emil", "password": .string("wrong \(number)")]
                #expect(try client.send(as: "", "POST", "/_session", body).status == 401)
            }
            #expect(answers.withLock(\.self) == [])
        }
        waitUntil { answers.withLock(\.count) == names.count }
        #expect(answers.withLock(\.self) == [200, 200, 200, 200])
    }
}
