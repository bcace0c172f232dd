import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// What the server says a user may do in a database, compared with what it lets the user do.
@Suite(.timeLimit(.minutes(5))) struct AccessEndpointTests {
    private func ask(_ client: RouterClient, _ user: JSONValue, _ security: JSONValue? = nil) throws -> JSONValue {
        var body: JSONValue = ["user": user]
        body["security"] = security
        let answer = try client.send("POST", "/db/_access", body)
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    private static let security: JSONValue = [
        "admins": ["names": ["dora"], "roles": ["boss"]], "members": ["names": ["mia", "max"], "roles": ["team"]],
    ]

    private func secured() throws -> RouterClient {
        let client = try RouterClient.with(users: [
            "mia": [], "max": ["team", "other"], "dora": [], "dirk": ["boss"], "eve": ["other"],
        ])
        #expect(try client.send("PUT", "/db/_security", Self.security).status == 200)
        return client
    }

    @Test func `each reason is named`() throws {
        let client = try secured()
        #expect(
            try ask(client, "max") == [
                "user": "max", "known": true, "roles": ["team", "other"], "server_admin": false, "admin": false,
                "member": true,
                "reasons": [
                    ["right": "member", "by": "name", "value": "max"],
                    ["right": "member", "by": "role", "value": "team"],
                ],
            ])
        #expect(
            try ask(client, "dirk")["reasons"] == [
                ["right": "admin", "by": "role", "value": "boss"], ["right": "member", "by": "admin"],
            ])
        #expect(
            try ask(client, "admin")["reasons"] == [
                ["right": "admin", "by": "server_admin"], ["right": "member", "by": "admin"],
            ])
        let eve = try ask(client, "eve")
        #expect(eve["member"] == false && eve["reasons"] == [] && eve["known"] == true)
        let nobody = try ask(client, "nobody")
        #expect(nobody["known"] == false && nobody["member"] == false && nobody["roles"] == [])
        let anonymous = try ask(client, .null)
        #expect(anonymous["user"] == .null && anonymous["known"] == false && anonymous["member"] == false)
    }

    @Test func `the answer is what the server does, for stored and given objects`() throws {
        let client = try secured()
        let objects: [JSONValue] = [
            Self.security, [:], ["members": ["roles": ["other"]]],
            ["admins": ["names": ["eve"]], "members": ["names": ["x"]]],
            ["members": ["roles": ["_admin"]], "admins": ["roles": ["_admin"]]],
        ]
        for object in objects {
            var told: [String: JSONValue] = [:]
            for name in ["mia", "max", "dora", "dirk", "eve", ""] {
                told[name] = try ask(client, name.isEmpty ? .null : .string(name), object)
            }
            #expect(try client.send("GET", "/db/_security").json == Self.security, "a question writes nothing")
            #expect(try client.send("PUT", "/db/_security", object).status == 200)
            for (name, answer) in told {
                let who = name.isEmpty ? "" : "\(name):pw"
                let reads = try client.send(as: who, "GET", "/db").status == 200
                let manages = try client.send(as: who, "POST", "/db/_compact", [:]).status == 202
                #expect(
                    answer["member"] == .bool(reads) && answer["admin"] == .bool(manages),
                    "\(name): \(answer), \(object)")
                let rights = Set((answer["reasons"]?.array ?? []).compactMap { $0["right"]?.string })
                #expect(rights == Set((reads ? ["member"] : []) + (manages ? ["admin"] : [])), "\(name): \(answer)")
                #expect(try ask(client, name.isEmpty ? .null : .string(name)) == answer)
            }
            #expect(try client.send("PUT", "/db/_security", Self.security).status == 200)
        }
    }

    @Test func `a server that refuses requests without a login does so here`() throws {
        let client = try RouterClient { $0.security.anonymousAccess = .nowhere }
        #expect(try client.send("PUT", "/db").status == 201)
        let open = try ask(client, .null, [:])
        #expect(open["member"] == false && open["reasons"] == [])
        #expect(try ask(client, "somebody", [:])["reasons"] == [["right": "member", "by": "open"]])
    }

    @Test func `only administrators of the database ask, and broken questions are refused`() throws {
        let client = try secured()
        let question: JSONValue = ["user": "eve"]
        #expect(try client.send(as: "dora:pw", "POST", "/db/_access", question).status == 200)
        for (who, status) in [("mia:pw", 401), ("eve:pw", 403), ("", 401)] {
            #expect(try client.send(as: who, "POST", "/db/_access", question).status == status, "\(who)")
        }
        let broken: [JSONValue] = [
            [:], ["user": 5], ["user": ""], ["user": "a", "security": 5], ["user": "a", "security": ["admins": 5]],
            ["user": "a", "rev": "1-a"], [],
        ]
        for question in broken {
            #expect(try client.send("POST", "/db/_access", question).status == 400, "\(question)")
        }
        #expect(try client.send("POST", "/none/_access", question).status == 404)
        #expect(try client.send("GET", "/db/_access").status == 405)
    }

    @Test func `a user whose document has a conflict is reported, and nobody is logged out`() throws {
        let client = try secured()
        let path = "/_users/org.couchdb.user:mia"
        let old = try client.send("GET", path).json["_rev"]?.string ?? ""
        for text in ["a", "b"] {
            var user = RouterClient.user("mia", [text])
            user["_rev"] = .string(old)
            #expect(try client.send("PUT", path + "?conflicts=branch", user).status == 201)
        }
        let answer = try client.send("POST", "/db/_access", ["user": "mia"])
        #expect(answer.status == 409 && answer.error.contains("conflicts"), "\(answer.text)")
    }
}
