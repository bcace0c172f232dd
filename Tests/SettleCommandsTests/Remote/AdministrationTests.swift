import Foundation
import Settle
import SettleServer
import SettleTesting
import Testing

/// Commands on databases as a whole, on the users of a server, and on permissions.
@Suite(.timeLimit(.minutes(5))) struct AdministrationTests {
    let remote: RemoteRoom
    private var room: Room { remote.room }
    private var server: String { remote.url("") }

    init() throws { remote = try RemoteRoom { $0.security.allowsLiveSettings = true } }

    private func json(_ words: String...) throws -> [JSONValue] {
        try remote.run(all: words + ["--json"]).lines.map { try JSONValue(parsing: $0) }
    }

    // MARK: databases, drop

    @Test func `databases of a folder and a server are listed with their counts`() throws {
        for place in ["a.settle", "plain", remote.url("a")] {
            try remote.run("create", place)
            try remote.run("put", place, "x", "{}")
            try remote.run("put", place, "y", "{}")
            try remote.run("delete", place, "y", "--force")
        }
        try FileManager.default.createDirectory(atPath: room.path("stock"), withIntermediateDirectories: true)
        let near = try json("databases")
        #expect(near.map { $0["name"]?.string } == ["a", "plain"])
        let far = try json("databases", server)
        #expect(far.map { $0["name"]?.string } == ["a"])
        for row in near + far {
            #expect(row["doc_count"] == 1 && row["doc_del_count"] == 1 && (row["size"]?.int ?? 0) > 0, "\(row)")
        }
        #expect(try json("databases", server, "--all").map { $0["name"]?.string }.contains("_users"))
        #expect(try remote.run("databases", "stock").line == "No database")
        #expect(try remote.run("databases", "none").status == 3)
        #expect(try remote.run("databases", "plain").errors.contains("is a database"))
        #expect(try remote.run("databases", remote.url("a")).status == 3)
        #expect(try remote.run("databases", "--user", "x").status == 2)
        #expect(try remote.run("databases", remote.url("", "")).status == 5)
    }

    @Test func `databases that a server keeps from the user are named, and the others are listed`() throws {
        for name in ["a", "b", "c"] { try remote.run("create", remote.url(name)) }
        // CouchDB answers _dbs_info to administrators alone.
        let plan = FaultPlan("refuses") { request, _ in
            ["/_dbs_info", "/b"].contains(request.path)
                ? .answer(status: 403, retryAfter: nil, body: .couchDB) : .none
        }
        let proxy = try FaultProxy(to: remote.port, plan: plan)
        let outcome = try remote.run("databases", remote.url("", behind: proxy), "--json")
        #expect(outcome.status == 0 && outcome.lines.count == 2, "\(outcome)")
        #expect(outcome.error["warning"] == "not readable for this user: b", "\(outcome)")
        let text = try remote.run("databases", remote.url("", behind: proxy))
        #expect(text.errors == "settle: not readable for this user: b\n" && !text.output.contains("b  "), "\(text)")
        #expect(try remote.run("databases", remote.url("", behind: proxy), "-q").errors == "")
    }

    @Test func `a database that is in use or damaged is listed with the reason`() async throws {
        for name in ["a", "b", "c"] { try remote.run("create", name) }
        try room.write("nonsense", to: "b/database.sqlite")
        let pipe = Pipe()
        let process = try room.start(["shell", "c"], "one", input: pipe)
        try pipe.fileHandleForWriting.write(contentsOf: Data("put x '{}'\n".utf8))
        await eventually("there is output") { try !remote.output("one").isEmpty }
        let outcome = try remote.run("databases", "--wait", "0", "--json")
        #expect(outcome.status == 1)
        let rows = try outcome.lines.map { try JSONValue(parsing: $0) }
        #expect(rows.count == 3 && rows[0]["error"] == nil, "\(outcome)")
        #expect(rows[1]["error"]?.string != nil && rows[2]["error"] == "in_use", "\(outcome)")
        #expect(try remote.run("databases", "--wait", "0").output.contains("in use by another process"))
        try pipe.fileHandleForWriting.close()
        process.waitForEnd()
    }

    @Test func `a database is deleted when a person or an option says so`() throws {
        for place in ["near.settle", remote.url("far")] {
            try remote.run("create", place)
            try remote.run("put", place, "x", "{}")
            let refused = try remote.run("drop", place)
            #expect(refused.status == 2 && refused.errors.contains("with 1 document unasked; give --yes"))
            let declined = try room.atTerminal(["drop", place], .wait("? [y/N] "), .type("\n"))
            #expect(declined.status == 1 && declined.output.contains("nothing was deleted"), "\(declined.output)")
            #expect(try remote.run("get", place, "x").status == 0)
            let dropped = try room.atTerminal(
                ["drop", place.replacing(".settle", with: "")], .wait("with 1 document? [y/N] "), .type("y\n"))
            #expect(dropped.status == 0, "\(dropped.output)")
            #expect(try remote.run("get", place, "x").status == 3)
            try remote.run("create", place)
            #expect(try remote.run("drop", place, "--yes", "--json").json["doc_count"] == 0)
            #expect(try remote.run("drop", place, "--yes").status == 3)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: room.folder.path).allSatisfy { !$0.contains("near") })
    }

    @Test func `what is no database, is in use or belongs to a shell is not deleted`() async throws {
        try room.write("text", into: "folder/file.txt")
        #expect(try remote.run("drop", "folder", "--yes").status != 0)
        #expect(FileManager.default.fileExists(atPath: room.path("folder/file.txt")))
        try remote.run("create", "db")
        let inside = try remote.run("shell", "db", input: "drop --yes\n")
        #expect(inside.status == 2 && inside.errors.contains("leave it with exit"), "\(inside.errors)")
        let pipe = Pipe()
        let process = try room.start(["shell", "db"], "one", input: pipe)
        try pipe.fileHandleForWriting.write(contentsOf: Data("put x '{}'\n".utf8))
        await eventually("there is output") { try !remote.output("one").isEmpty }
        #expect(try remote.run("drop", "db", "--yes", "--wait", "0").status == 6)
        try pipe.fileHandleForWriting.close()
        process.waitForEnd()
        #expect(try remote.run("get", "db", "x").status == 0)
    }

    @Test func `neither a database with a similar name nor the target of a link is deleted`() throws {
        for name in ["a", "a.deleted"] { try remote.run("create", name) }
        try remote.run("put", "a.deleted", "x", "{}")
        #expect(try remote.run("drop", "a", "--yes").status == 0)
        #expect(try remote.run("get", "a", "x").status == 3)
        #expect(try remote.run("get", "a.deleted", "x").status == 0)
        try FileManager.default.createSymbolicLink(
            atPath: room.path("link"), withDestinationPath: room.path("a.deleted"))
        let refused = try remote.run("drop", "link", "--yes")
        #expect(refused.status == 2 && refused.errors.contains("a link to"), "\(refused)")
        #expect(try remote.run("get", "link", "x").status == 0)
    }

    // MARK: users

    @Test func `users are added, listed, changed and removed`() throws {
        try remote.run("create", remote.url())
        try remote.run("security", remote.url(), "--member-role", "family")
        try room.write("first-word\n", to: "first")
        let added = try remote.run("users", "add", server, "anna", "family", "--new-password-file", "first", "--json")
        #expect(added.status == 0 && added.json["rev"]?.string?.hasPrefix("1-") == true, "\(added)")
        let second = try remote.run("users", "add", server, "bob", environment: ["SETTLE_NEW_PASSWORD": "word-of-bob"])
        #expect(second.status == 0 && second.line == "Added bob", "\(second)")
        #expect(
            try json("users", "list", server) == [
                ["name": "admin", "roles": ["_admin"], "server_admin": true],
                ["name": "anna", "roles": ["family"]], ["name": "bob", "roles": []],
            ])
        #expect(try remote.run("docs", remote.url("db", "anna:first-word@")).status == 0)
        #expect(try remote.run("docs", remote.url("db", "bob:word-of-bob@")).status == 5)

        #expect(try remote.run("users", "roles", server, "bob", "family", "guest").status == 0)
        #expect(try remote.run("users", "roles", server, "bob").lines == ["family", "guest"])
        #expect(try remote.run("docs", remote.url("db", "bob:word-of-bob@")).status == 0)
        let changed = try remote.run(
            "users", "password", server, "bob", environment: ["SETTLE_NEW_PASSWORD": "other-word"])
        #expect(changed.status == 0, "\(changed)")
        #expect(try remote.run("docs", remote.url("db", "bob:word-of-bob@")).status == 5)
        #expect(try remote.run("docs", remote.url("db", "bob:other-word@")).status == 0)
        #expect(try remote.run("users", "roles", server, "bob", "--none").status == 0)
        #expect(try json("users", "roles", server, "bob") == [["name": "bob", "roles": []]])
        #expect(try remote.run("users", "remove", server, "anna").line == "Removed anna")
        #expect(try remote.run("docs", remote.url("db", "anna:first-word@")).status == 5)
    }

    @Test func `a new password is typed twice and not shown`() throws {
        let add = ["users", "add", server, "eva"]
        let outcome = try room.atTerminal(
            add, .wait("New password of eva: "), .type("one-word\n"), .wait("Once more: "), .type("one-wrod\n"),
            .wait("The two differ"), .wait("New password of eva: "), .type("one-word\n"), .wait("Once more: "),
            .type("one-word\n"), environment: ["SETTLE_NEW_PASSWORD": "", "SETTLE_PASSWORD": ""])
        #expect(outcome.status == 0 && !outcome.output.contains("one-w"), "\(outcome.output)")
        try remote.run("create", remote.url())
        try remote.run("security", remote.url(), "--member", "eva")
        #expect(try remote.run("docs", remote.url("db", "eva:one-word@")).status == 0)
        let empty = try room.atTerminal(
            ["users", "password", server, "eva"], .wait("New password of eva: "), .type("\n"), .wait("Once more: "),
            .type("\n"), environment: ["SETTLE_NEW_PASSWORD": ""])
        #expect(empty.status == 5, "\(empty.output)")
    }

    @Test func `wrong calls of users say what to do`() throws {
        try room.write("first-word\n", to: "first")
        let file = ["--new-password-file", "first"]
        let none = try remote.run("users", "add", server, "anna")
        #expect(none.status == 2 && none.errors.contains("SETTLE_NEW_PASSWORD"), "\(none.errors)")
        #expect(try remote.run(all: ["users", "add", server, "anna"] + file).status == 0)
        let twice = try remote.run(all: ["users", "add", server, "anna"] + file)
        #expect(twice.status == 4 && twice.errors.contains("settle users password"), "\(twice.errors)")
        let admin = try remote.run(all: ["users", "password", server, "admin"] + file)
        #expect(admin.status == 3 && admin.errors.contains("settings of the server"), "\(admin.errors)")
        for action in ["password", "roles", "remove"] {
            let words = ["users", action, server, "nobody"] + (action == "password" ? file : [])
            let missing = try remote.run(all: words)
            #expect(missing.status == 3 && missing.errors.contains("there is no user \"nobody\""), "\(missing.errors)")
        }
        #expect(try remote.run(all: ["users", "add", server, "a:b"] + file).status == 5)
        #expect(try remote.run(all: ["users", "add", server, "x", "_admin"] + file).status == 5)
        #expect(try remote.run("users", "list", "folder").errors.contains("give its URL"))
        #expect(try remote.run("users", "list", server, "anna").status == 2)
        #expect(try remote.run("users", "remove", server, "anna", "role").status == 2)
        #expect(try remote.run("users", "list", server, "--none").status == 2)
        #expect(try remote.run("users", "list", remote.url("", "anna:first-word@")).status == 5)
        let turned = try remote.run("users", server, "list")
        #expect(turned.status == 2 && !turned.errors.contains("secret-word"), "\(turned.errors)")
    }

    // MARK: security

    @Test func `members and administrators are shown, added and removed by name and role`() throws {
        for database in ["db", remote.url()] {
            try remote.run("create", database)
            #expect(try remote.run("security", database).lines.count == 2)
            let set = try remote.run(
                "security", database, "--member", "anna", "--member", "bob", "--member-role", "family", "--admin",
                "eva",
                "--remove-admin-role", "_admin", "--json")
            #expect(
                set.json == [
                    "members": ["roles": ["_admin", "family"], "names": ["anna", "bob"]],
                    "admins": ["roles": [], "names": ["eva"]],
                ], "\(set)")
            let text = try remote.run("security", database, "--remove-member", "bob", "--member", "anna")
            #expect(
                text.lines == ["Administrators  eva", "Members         anna; roles _admin, family"], "\(text)")
            let missing = try remote.run("security", database, "--remove-member", "bob", "--admin", "x")
            #expect(missing.status == 3 && missing.errors.contains("they have anna"), "\(missing.errors)")
            #expect(try json("security", database)[0]["admins"]?["names"] == ["eva"])
            #expect(try remote.run("security", database, "--everybody").output.contains("everybody"))
            for option in ["--member", "--remove-member", "--remove-member-role"] {
                #expect(try remote.run("security", database, "--everybody", option, "anna").status == 2)
            }
            #expect(try remote.run("security", database, "--admin", "").status == 2)
        }
        #expect(try remote.run("docs", remote.url("db", "")).status == 0)
    }

    @Test func `other members of the security object stay, and the old name of members is understood`() throws {
        try remote.run("create", remote.url())
        try remote.send("PUT", "db/_security", ["readers": ["names": ["anna"]], "note": "ours"])
        let set = try remote.run("security", remote.url(), "--admin", "eva", "--json").json
        #expect(set["note"] == "ours" && set["members"]?["names"] == ["anna"] && set["readers"] == nil, "\(set)")
    }
}
