import Settle
import SettleDatabase
import SettleHTTP
import Testing

@testable import SettleServer

@Suite struct UserDocumentTests {
    private let anna = "/_users/org.couchdb.user:anna"

    /// A server where users may sign up.
    private func open(_ change: (inout ServerOptions) -> Void = { _ in }) throws -> RouterClient {
        let client = try RouterClient.with(users: ["anna": ["writer"], "eve": []]) {
            $0.security.isUsersSecurityEditable = true
            change(&$0)
        }
        #expect(try client.send("PUT", "/_users/_security", ["admins": ["roles": ["_admin"]]]).status == 200)
        return client
    }

    @Test func `a password is stored nowhere`() throws {
        let client = try RouterClient.with(users: ["anna": []])
        let paths = [
            anna, anna + "?revs=true&open_revs=all", "/_users/_all_docs?include_docs=true",
            "/_users/_changes?include_docs=true",
        ]
        for path in paths {
            let text = try client.send("GET", path).text
            #expect(text.contains("derived_key") && !text.contains("\"password\""))
        }
        let bulk = try client.send(
            "POST", "/_users/_bulk_docs",
            ["docs": [["_id": "org.couchdb.user:b", "name": "b", "roles": [], "type": "user", "password": "sesame"]]])
        #expect(bulk.json.array?.first?["ok"] == true)
        let replicated: JSONValue = [
            "docs": [
                [
                    "_id": "org.couchdb.user:c", "_rev": "1-aa", "name": "c", "roles": [], "type": "user",
                    "password": "sesame",
                ]
            ], "new_edits": false,
        ]
        #expect(try client.send("POST", "/_users/_bulk_docs", replicated).json == [])
        #expect(try !client.send("GET", "/_users/_all_docs?include_docs=true").text.contains("sesame"))
        for name in ["b", "c"] { #expect(try client.send(as: "\(name):sesame", "GET", "/").status == 200) }
    }

    @Test func `a document made by a CouchDB authenticates`() throws {
        let client = try RouterClient.with(users: [:])
        let document: JSONValue = [
            "_id": "org.couchdb.user:old", "_rev": "1-aa", "name": "old", "roles": ["r"], "type": "user",
            "password_scheme": "pbkdf2", "iterations": 1, "salt": "salt",
            "derived_key": "0c60c80f961f0e71f3a9b524af6012062fe037a6",
        ]
        #expect(
            try client.send("POST", "/_users/_bulk_docs", ["docs": [document], "new_edits": false]).json == [])
        #expect(try client.send(as: "old:password", "GET", "/_session").json["userCtx"]?["roles"] == ["r"])
        #expect(try client.send(as: "old:Password", "GET", "/_session").status == 401)
    }

    @Test func `another user's document is not found, by any endpoint`() throws {
        let client = try open()
        let rev = try client.send("GET", anna).json["_rev"]?.string ?? ""
        let who = "eve:pw"
        for path in [anna, anna + "?open_revs=all", anna + "/file", anna + "?rev=\(rev)", anna + "?attachments=true"] {
            #expect(try client.send(as: who, "GET", path).error == "not_found: missing")
            #expect(try client.send(as: "", "GET", path).status == 404)
        }
        #expect(try client.send(as: who, "DELETE", anna + "?rev=\(rev)").status == 404)
        #expect(try client.send(as: who, "COPY", anna, headers: ["Destination": "org.couchdb.user:eve"]).status == 404)
        #expect(try client.send(as: who, "PUT", anna + "/file?rev=\(rev)", [:]).status == 404)
        let stolen = RouterClient.user("anna", ["writer"], password: "mine")
        for credentials in ["", who] {
            #expect([403, 404].contains(try client.send(as: credentials, "PUT", anna, stolen).status))
            var rows: JSONValue = stolen
            rows["_id"] = "org.couchdb.user:anna"
            rows["_rev"] = .string(rev)
            let bulk = try client.send(as: credentials, "POST", "/_users/_bulk_docs", ["docs": [rows]])
            #expect(bulk.json.array?.first?["ok"] == nil)
            rows["_rev"] = "9-ffffffffffffffffffffffffffffffff"
            let forced = try client.send(
                as: credentials, "POST", "/_users/_bulk_docs", ["docs": [rows], "new_edits": false])
            #expect(forced.status == 401)
            let single = try client.send(as: credentials, "PUT", anna + "?new_edits=false", rows)
            #expect([403, 404].contains(single.status))
        }
        for (method, path) in [
            ("POST", "/_bulk_get"), ("POST", "/_revs_diff"), ("POST", "/_find"), ("GET", "/_local_docs"),
            ("GET", "/_design_docs"), ("GET", "/_local/x"), ("GET", "/_design/_auth"), ("GET", "/_all_docs"),
            ("GET", "/_changes"), ("POST", "/_missing_revs"), ("GET", "/_design/x/_view/y"),
            ("GET", "/_design%2F_auth"), ("GET", "/_local%2Fx"), ("GET", "/_all%5Fdocs"),
            ("POST", "/_all_docs/queries"),
            ("HEAD", "/_all_docs"), ("POST", "/_changes"), ("GET", "/%5Fdesign/_auth"), ("GET", "//_all_docs"),
        ] {
            let answer = try client.send(as: who, method, "/_users" + path, ["docs": [["id": "org.couchdb.user:anna"]]])
            #expect([401, 403].contains(answer.status), "\(path)")
        }
        #expect(try client.send(as: "anna:pw", "GET", anna).status == 200)
    }

    @Test func `a new user of an old name reads no revision of the former user`() throws {
        let client = try open()
        let former = try client.send("GET", anna).json
        let (rev, hash) = (former["_rev"]?.string ?? "", former["derived_key"]?.string ?? "")
        #expect(try client.send("DELETE", anna + "?rev=\(rev)").status == 200)
        #expect(try client.send(as: "", "PUT", anna, RouterClient.user("anna", password: "mine")).status == 201)
        for query in ["?rev=\(rev)", "?open_revs=%5B%22\(rev)%22%5D"] {
            #expect(try client.send(as: "anna:mine", "GET", anna + query).error == "not_found: missing")
            #expect(try client.send("GET", anna + query).text.contains(hash))
        }
        let own = try client.send(as: "anna:mine", "GET", anna + "?open_revs=all&revs=true")
        #expect(own.status == 200 && own.text.contains("derived_key") && !own.text.contains(hash))
    }

    @Test func `users can't give themselves roles`() throws {
        let client = try open()
        var document = try client.send(as: "anna:pw", "GET", anna).json
        document["roles"] = ["writer", "boss"]
        #expect(try client.send(as: "anna:pw", "PUT", anna, document).error == "forbidden: Only _admin may edit roles")
        let new = RouterClient.user("new", ["boss"])
        #expect(
            try client.send(as: "", "PUT", "/_users/org.couchdb.user:new", new).error
                == "forbidden: Only _admin may set roles")
        #expect(try client.send(as: "", "PUT", "/_users/org.couchdb.user:new", RouterClient.user("new")).status == 201)
        #expect(try client.send("PUT", anna, RouterClient.user("anna", ["_admin"])).status == 403)
        document["roles"] = ["writer"]
        document["name"] = "eve"
        #expect(try client.send(as: "anna:pw", "PUT", anna, document).status == 403)
    }

    @Test func `users can't give themselves a role that only looks like one of theirs`() throws {
        let (client, ben) = (try open(), "/_users/org.couchdb.user:ben")
        // The same letter as one character, and as two.
        let (own, other) = ("caf\u{E9}", "cafe\u{301}")
        #expect(try client.send("PUT", ben, RouterClient.user("ben", [own])).status == 201)
        var document = try client.send(as: "ben:pw", "GET", ben).json
        document["roles"] = [.string(other)]
        #expect(try client.send(as: "ben:pw", "PUT", ben, document).error == "forbidden: Only _admin may edit roles")
        document["roles"] = [.string(own)]
        #expect(try client.send(as: "ben:pw", "PUT", ben, document).status == 201)
    }

    @Test func `public members are shown, and never a hash`() throws {
        let client = try open { $0.security.publicUserFields = ["name", "derived_key", "salt"] }
        let shown = try client.send(as: "eve:pw", "GET", anna).json
        #expect(shown["name"] == "anna" && shown["derived_key"] == nil && shown["salt"] == nil && shown["roles"] == nil)
        #expect(try client.send(as: "", "GET", anna + "?open_revs=all").json["name"] == "anna")
        #expect(try client.send(as: "", "GET", anna + "/file").status == 404)
    }

    @Test func `a member whose name only looks like that of a public one is not shown`() throws {
        // The same letter as one character, and as two.
        let client = try open { $0.security.publicUserFields = ["caf\u{E9}"] }
        var user = RouterClient.user("ben")
        user["caf\u{E9}"] = "shown"
        user["cafe\u{301}"] = "kept"
        #expect(try client.send("PUT", "/_users/org.couchdb.user:ben", user).status == 201)
        let shown = try client.send(as: "eve:pw", "GET", "/_users/org.couchdb.user:ben").json
        #expect(shown["caf\u{E9}"] == "shown" && shown["cafe\u{301}"] == nil)
    }

    @Test func `a system role in a document is ignored`() throws {
        let client = try RouterClient.with(users: ["eve": []])
        // Written directly to the database, like a copied file, bypassing all rules.
        let users = try client.server.state.databases.open("_users")
        let hash = PasswordHash(of: Array("pw".utf8), iterations: 1)
        let members = hash.members + [("name", "mal"), ("roles", ["_admin", "x"]), ("type", "user")]
        _ = try users.write([
            DocumentEdit(id: "org.couchdb.user:mal", parent: nil, body: try DocumentBody(.object(JSONObject(members))))
        ])
        #expect(try client.send(as: "mal:pw", "GET", "/_session").json["userCtx"]?["roles"] == ["x"])
        #expect(try client.send(as: "mal:pw", "GET", "/_all_dbs").status == 401)
    }

    @Test func `a self-registered user can't make authentication slow for others`() throws {
        let client = try open()
        var members: [(String, JSONValue)] = [
            ("name", "slow"), ("roles", []), ("type", "user"), ("password_scheme", "pbkdf2"), ("salt", "s"),
            ("derived_key", "00"), ("iterations", 10_000_000),
        ]
        let path = "/_users/org.couchdb.user:slow"
        let refused = try client.send(as: "", "PUT", path, .object(JSONObject(members)))
        #expect(refused.status == 403 && refused.error.hasPrefix("forbidden: Iteration count is too high"))
        members[6].1 = 1_000_000
        #expect(try client.send(as: "", "PUT", path, .object(JSONObject(members))).status == 201)
        let mine = try client.send("GET", anna).json.object ?? JSONObject()
        var changed = mine
        changed["iterations"] = 10_000_000
        changed["derived_key"] = "00"
        #expect(try client.send(as: "anna:pw", "PUT", anna, .object(changed)).status == 403)
        #expect(try client.send("PUT", anna, .object(changed)).status == 201)
    }
}
