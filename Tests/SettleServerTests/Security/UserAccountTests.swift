import Settle
import SettleCore
import SettleHTTP
import Testing

@testable import SettleServer

/// Who may log in, and with which roles: the documents of `_users` beside the server's administrators.
@Suite(.timeLimit(.minutes(5))) struct UserAccountTests {
    private static let told =
        "unauthorized: User document conflicts must be resolved before the document is used for authentication purposes."

    private func session(_ client: RouterClient, _ name: String) throws -> Answer {
        try client.send(as: "", "POST", "/_session", ["name": .string(name), "password": "pw"])
    }

    /// Inserts another first revision of a user's document, with its own password and roles.
    private func branch(_ client: RouterClient, _ name: String, password: String = "pw", _ roles: JSONValue = []) throws
    {
        var document = try #require(RouterClient.user(name, password: password).object)
        document["_id"] = .string("org.couchdb.user:\(name)")
        document["_rev"] = "1-00000000000000000000000000000001"
        document["roles"] = roles
        let batch: JSONValue = ["docs": [.object(document)], "new_edits": false]
        #expect(try client.send("POST", "/_users/_bulk_docs", batch).json == [])
    }

    @Test func `a document in conflict authenticates no user`() throws {
        let client = try RouterClient.with(users: ["anna": [], "bert": []])
        let cookie = String(try #require(try session(client, "anna").headers["Set-Cookie"]).prefix { $0 != ";" })
        try branch(client, "anna", password: "other")
        for password in ["pw", "other", "wrong"] {
            let answer = try client.send(as: "anna:\(password)", "GET", "/_session")
            #expect(answer.status == 401 && answer.error == Self.told)
        }
        #expect(try session(client, "anna").error == Self.told)
        #expect(try client.send("GET", "/_session", headers: ["Cookie": cookie]).error == Self.told)
        #expect(try client.send(as: "bert:pw", "GET", "/").status == 200)
        // The administrator settles the conflict, and authentication works again.
        let found = try client.send("GET", "/_users/org.couchdb.user:anna?conflicts=true").json
        let loser = try #require(found["_conflicts"]?[0]?.string)
        #expect(try client.send("DELETE", "/_users/org.couchdb.user:anna?rev=\(loser)").status == 200)
        let winner = found["_rev"] == "1-00000000000000000000000000000001" ? "other" : "pw"
        #expect(try client.send(as: "anna:\(winner)", "GET", "/").status == 200)
    }

    @Test func `a server's administrator has the roles of the document with the name, too`() throws {
        let client = try RouterClient.with(users: ["admin": ["writer", "boss"]])
        let answer = try client.send("GET", "/_session")
        #expect(answer.json["userCtx"] == ["name": "admin", "roles": ["_admin", "writer", "boss"]])
        // The password is that of the configuration.
        #expect(try client.send(as: "admin:pw", "GET", "/").status == 401)
        // A conflicted or deleted document there does not lock an administrator out.
        try branch(client, "admin", ["_metrics", "x"])
        #expect(try client.send("GET", "/_session").json["userCtx"]?["roles"]?[0] == "_admin")
        for revision in try client.send("GET", "/_users/org.couchdb.user:admin?open_revs=all").json.array ?? [] {
            let name = try #require(revision["ok"]?["_rev"]?.string)
            #expect(try client.send("DELETE", "/_users/org.couchdb.user:admin?rev=\(name)").status == 200)
        }
        #expect(try client.send("GET", "/_session").json["userCtx"]?["roles"] == ["_admin"])
        #expect(try client.send("DELETE", "/_users").status == 200)
        #expect(try client.send("GET", "/_session").json["userCtx"]?["roles"] == ["_admin"])
    }

    @Test func `a users database that is created again has its design document`() throws {
        let client = try RouterClient()
        #expect(try client.send("PUT", "/_users").status == 201)
        for _ in 0..<2 {
            let design = try client.send("GET", "/_users/_design/_auth")
            #expect(design.status == 200 && design.json["language"] == "javascript")
            #expect(try client.send("DELETE", "/_users").status == 200)
            #expect(try client.send("PUT", "/_users").status == 201)
        }
    }
}
