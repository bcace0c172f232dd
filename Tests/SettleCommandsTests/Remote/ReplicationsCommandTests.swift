import Foundation
import Settle
import SettleTesting
import Testing

/// Stored replications, with the real tool.
struct ReplicationsCommandTests {
    let room: RemoteRoom

    init() throws { room = try RemoteRoom() }

    private func list(_ place: String) throws -> [JSONValue] {
        try room.run("replications", "list", place, "--json").lines.map { try JSONValue(parsing: $0) }
    }

    @Test func `the replications of a folder are listed, paused, resumed and removed`() throws {
        try room.run("create", "notes")
        #expect(try room.run("replications", "list", "notes").line == "No replication is kept")
        let added = try room.run(
            "replications", "add", "notes", "local", room.url("hub"), "--continuous", "--selector", #"{"a":1}"#,
            "--json")
        let id = try #require(added.json["id"]?.string)
        try room.run("replications", "add", "notes", room.url("hub"), "local", "--store-password")
        let all = try list("notes")
        #expect(all.count == 2 && all[0]["id"]?.string == id)
        #expect(all[0]["source"] == "local" && all[0]["continuous"] == true && all[0]["state"] == "pending")
        #expect(all[0]["target"]?.string == room.url("hub", "admin@"))
        #expect(all[1]["target"] == "local" && all[1]["continuous"] == false)
        let text = try room.run("replications", "list", "notes")
        #expect(text.lines.count == 2 && !text.output.contains("secret-word"))
        let first = try #require(text.lines.first)
        #expect(first.contains("local → ") && first.hasSuffix("pending, continuous"))
        #expect(try room.run("replications", "pause", "notes", String(id.prefix(8))).line == "Paused \(id)")
        #expect(try list("notes").map { $0["state"]?.string } == ["paused", "pending"])
        try room.run("replications", "resume", "notes", id)
        #expect(try list("notes").map { $0["state"]?.string } == ["pending", "pending"])
        try room.run("replications", "remove", "notes", id)
        #expect(try list("notes").map { $0["target"] } == ["local"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `addresses of Couchbase Mobile's protocol are kept with their collection`() async throws {
        try room.run("create", "notes")
        let hub = room.url("hub").replacing("http://", with: "ws://")
        try room.run("replications", "add", "notes", "local", hub, "--collection", "shop.food")
        let kept = room.url("hub", "admin@").replacing("http://", with: "ws://") + "#shop.food"
        #expect(try list("notes").map { $0["target"]?.string } == [kept])
        let stored = try room.run("get", "notes", "_local/settle-replications").output
        #expect(stored.contains("shop.food") && !stored.contains("secret-word"))
        let refused = try room.run(
            all: ["replications", "add", "notes", "local", room.url("hub"), "--collection", "shop.food"])
        #expect(refused.status != 0 && refused.errors.contains("a collection needs an address with ws://"))

        for name in ["from", "to", "to%2Bshop%2Bfood"] { try room.run("create", room.url(name)) }
        try room.run("put", room.url("from"), "milk", "{}")
        let server = room.url("", "admin:secret-word@")
        let target = room.url("to").replacing("http://", with: "ws://")
        let added = try room.run(
            "replications", "add", server, room.url("from"), target, "--collection", "shop.food", "--name", "copy")
        #expect(added.line == "Added copy", "\(added.errors)")
        await eventually("the document is there") {
            try room.run("docs", room.url("to%2Bshop%2Bfood")).lines.count == 1
        }
        await eventually("it is completed") { try list(server).map { $0["state"] } == ["completed"] }
        let none = try room.run(
            all: ["replications", "add", server, room.url("from"), room.url("to"), "--collection", "shop.food"])
        #expect(none.status == 2 && none.errors.contains("--collection needs an address"))
    }

    @Test(.timeLimit(.minutes(5)))
    func `replications on a server are created, paused, resumed and removed`() async throws {
        try room.run("create", room.url("from"))
        try room.run("put", room.url("from"), "milk", "{}")
        let server = room.url("", "admin:secret-word@")
        let added = try room.run(
            "replications", "add", server, room.url("from"), room.url("to"), "--continuous", "--create", "--name",
            "copy")
        #expect(added.line == "Added copy", "\(added.errors)")
        await eventually("the document is there") { try room.run("docs", room.url("to")).lines.count == 1 }
        let running = try list(server)
        #expect(running.count == 1 && running[0]["id"] == "copy" && running[0]["state"] == "running")
        #expect(running[0]["continuous"] == true)
        #expect(running[0]["source"]?.string == room.url("from", "") + "/")
        #expect(try room.run("replications", "pause", server, "co").line == "Paused copy")
        #expect(try list(server).map { $0["state"]?.string } == ["paused"])
        #expect(try room.run("docs", room.url("_replicator"), "--json").output == "")
        try room.run("put", room.url("from"), "bread", "{}")
        try room.run("replications", "resume", server, "copy")
        await eventually("both documents are there") { try room.run("docs", room.url("to")).lines.count == 2 }
        #expect(try list(server).map { $0["id"]?.string } == ["copy"])
        try room.run("replications", "pause", server, "copy")
        try room.run("replications", "remove", server, "copy")
        #expect(try list(server).isEmpty)
        #expect(try room.run("replications", "resume", server, "copy").status == 3)
    }

    @Test(.timeLimit(.minutes(5))) func `what an older tool has paused at a server is resumed`() async throws {
        try room.run("create", room.url("from"))
        try room.run("put", room.url("from"), "milk", "{}")
        let server = room.url("", "admin:secret-word@")
        let document: JSONValue = [
            "source": .string(room.url("from")), "target": .string(room.url("to")), "create_target": true,
        ]
        let paused: JSONValue = ["paused": ["copy": document]]
        #expect(try room.run("put", room.url("_replicator"), "_local/settle-paused", paused.description).status == 0)
        #expect(try list(server).map { $0["state"] } == ["paused"])
        #expect(try room.run("replications", "resume", server, "copy").line == "Resumed copy")
        await eventually("the document is there") { try room.run("docs", room.url("to")).lines.count == 1 }
        await eventually("it is completed") { try list(server).map { $0["state"] } == ["completed"] }
        for id in ["settle-paused", "settle-replications"] {
            #expect(try room.run("get", room.url("_replicator"), "_local/\(id)").status == 3)
        }
    }

    @Test func `an ordinary database of a server stores no replication`() throws {
        let notes = room.url("notes")
        try room.run("create", notes)
        for words in [["add", notes, room.url("a"), room.url("b")], ["list", notes], ["remove", notes, "x"]] {
            let refused = try room.run(all: ["replications"] + words)
            #expect(refused.status == 2, "\(words): \(refused)")
            #expect(refused.errors.contains("give the address of the server, http://127.0.0.1:\(room.port),"))
            #expect(!refused.errors.contains("secret-word"))
        }
        #expect(try room.run("docs", notes, "--json").output == "")
        #expect(try room.run("replications", "list", room.url("_replicator")).status == 0)
    }

    @Test func `an option or a word that the action does not take is refused, and nothing is done`() throws {
        try room.run("create", "notes")
        let added = try room.run("replications", "add", "notes", "local", room.url("hub"), "--json")
        let id = try #require(added.json["id"]?.string)
        let server = room.url("")
        for (words, told) in [
            (["list", "notes", "x"], "\"x\" is an unexpected argument"),
            (["list", "notes", "--continuous"], "--continuous is for add, not for list"),
            (["pause", "notes", id, "77aa"], "\"77aa\" is an unexpected argument"),
            (["resume", "notes", id, "77aa"], "\"77aa\" is an unexpected argument"),
            (["remove", "notes", id, "77aa"], "\"77aa\" is an unexpected argument"),
            (["pause", "notes", id, "--id", "milk"], "--id is for add, not for pause"),
            (["remove", "notes", id, "--store-password"], "--store-password is for add, not for remove"),
            (["add", server, room.url("a"), room.url("b"), "--store-password"], "--store-password is for folders"),
        ] as [([String], String)] {
            let outcome = try room.run(all: ["replications"] + words)
            #expect(outcome.status == 2 && outcome.errors.contains(told), "\(words): \(outcome)")
        }
        #expect(try list("notes").map { $0["state"] } == ["pending"])
        #expect(try list(server).isEmpty)
        #expect(try room.run("replications", "list", "notes", "--wait", "2").status == 0)
    }

    @Test func `what can't be is told, and what to do instead`() throws {
        try room.run("create", "notes")
        let server = room.url("")
        for (words, status, told) in [
            (["list"], 2, "DB is missing"), (["lsit", "notes"], 2, "did you mean list?"),
            (["notes", "x"], 2, "`settle replications list notes`"), (["pause", "notes"], 2, "ID is missing"),
            (["pause", "notes", "9f"], 3, "no replication's ID begins with"),
            (["add", "notes", room.url("a"), room.url("b")], 2, "between itself, called `local`, and a URL"),
            (["add", "notes", "local", room.url("a"), "--name", "x"], 2, "--name is for servers"),
            (["add", server, "a", room.url("b")], 2, "SOURCE must be a URL"),
            (["add", server, room.url("a", "anna@"), room.url("b")], 2, "there is no password for \"anna\""),
            (["list", room.url("", "admin:wrong-one@")], 5, "did not accept"),
        ] as [([String], Int32, String)] {
            let outcome = try room.run(all: ["replications"] + words)
            #expect(outcome.status == status, "\(words): \(outcome.errors)")
            #expect(outcome.errors.contains(told), "\(words): \(outcome.errors)")
            #expect(!outcome.errors.contains("wrong-one") && !outcome.errors.contains("secret-word"))
        }
    }
}
