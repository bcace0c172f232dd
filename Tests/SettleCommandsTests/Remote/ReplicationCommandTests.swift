import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

/// Replication by the real tool, with a server on this machine.
struct ReplicationCommandTests {
    let room: RemoteRoom

    init() throws { room = try RemoteRoom() }

    @Test func `a database pushed to a server can be pulled from it`() throws {
        try room.run("create", "a")
        try room.run("put", "a", "milk", #"{"count":1}"#)
        #expect(try room.run("push", "a", room.url("shop")).status == 3)
        let pushed = try room.run("push", "a", room.url("shop"), "--create", "--json")
        #expect(pushed.status == 0 && pushed.json["sent"]?["revisions"] == 1 && pushed.json["received"] == nil)
        let pulled = try room.run("pull", "b", room.url("shop"))
        #expect(pulled.line.hasPrefix("Received 1 revision, "))
        #expect(try room.run("get", "b", "milk").output == room.run("get", "a", "milk").output)
        #expect(try room.run("push", "a", room.url("shop"), "--json").json["sent"]?["documents"] == 0)
    }

    @Test func `a command that fails before it wrote a document leaves no new database`() throws {
        for words in [
            ["pull", "new", room.url("missing")], ["pull", "new", "missing"], ["push", room.url("missing"), "new"],
            ["import", "new", "missing.json"],
        ] {
            let outcome = try room.run(all: words)
            #expect(outcome.status != 0 && !outcome.errors.contains("--create"), "\(words): \(outcome.errors)")
            #expect(try room.run("info", "new").status == 3, "\(words)")
        }
    }

    @Test func `the message about a missing target offers to create it, whatever the name of the source`() throws {
        try room.run("create", "shop")
        try room.run("create", room.url("shop"))
        for target in ["shop2", "other"] {
            for source in ["shop", room.url("shop")] {
                let outcome = try room.run("push", source, room.url(target))
                #expect(outcome.status == 3, "\(outcome.errors)")
                #expect(outcome.errors.contains("/\(target); --create creates it"), "\(outcome.errors)")
            }
        }
        try room.run("create", "other")
        let outcome = try room.run("push", "other", room.url("other"))
        #expect(outcome.status == 3 && outcome.errors.contains("--create creates it"), "\(outcome.errors)")
        let pulled = try room.run("pull", "other", room.url("other"))
        #expect(pulled.status == 3 && !pulled.errors.contains("--create"), "\(pulled.errors)")
    }

    @Test func `sync creates a missing database on either side if it may`() throws {
        try room.run("create", "a")
        try room.run("put", "a", "milk", #"{"count":1}"#)
        let refused = try room.run("sync", "a", room.url("shop"))
        #expect(refused.status == 3 && refused.errors.contains("--create"), "\(refused.errors)")
        let missing = try room.run("sync", "b", room.url("shop"))
        #expect(missing.status == 3 && missing.errors.contains("--create"), "\(missing.errors)")
        let synced = try room.run("sync", "a", room.url("shop"), "--create", "--json")
        #expect(synced.status == 0 && synced.json["sent"]?["revisions"] == 1, "\(synced.errors)")
        #expect(try room.run("sync", "b", room.url("shop"), "--create").status == 0)
        #expect(try room.run("sync", room.url("other"), "a", "--create").status == 0)
        #expect(try room.run("sync", room.url("third"), room.url("fourth"), "--create").status == 0)
        for database in ["b", room.url("shop"), room.url("other")] {
            #expect(try room.run("get", database, "milk").json["count"] == 1)
        }
    }

    @Test func `two devices edit independently and agree through a server by one policy`() throws {
        try room.run("create", room.url("shop"))
        try room.run("create", "a")
        let first = try room.run("put", "a", "milk", #"{"count":1,"name":"Milk"}"#).line
        try room.run("sync", "a", room.url("shop"))
        try room.run("pull", "b", room.url("shop"))
        try room.run("put", "a", "milk", #"{"count":5,"name":"Milk"}"#, "--rev", first)
        try room.run("put", "b", "milk", #"{"count":1,"name":"Oat milk"}"#, "--rev", first)
        for device in ["a", "b", "a"] {
            let outcome = try room.run("sync", device, room.url("shop"), "--policy", "threeWayMerge", "--json")
            #expect(outcome.status == 0)
        }
        let answers = try ["a", "b", room.url("shop")].map { try room.run("get", $0, "milk").json }
        #expect(answers[0]["count"] == 5 && answers[0]["name"] == "Oat milk")
        #expect(answers[1] == answers[0] && answers[2] == answers[0])
        #expect(try room.run("conflicts", room.url("shop"), "--json").output == "")
    }

    @Test func `filters select documents, and each document is reported`() throws {
        try room.run("create", "a")
        for (id, owner) in [("x", "anna"), ("y", "ben"), ("z", "anna")] {
            try room.run("put", "a", id, #"{"owner":"\#(owner)"}"#)
        }
        let some = try room.run(
            "push", "a", room.url("hers"), "--create", "--selector", #"{"owner":"anna"}"#, "--events", "--json")
        let lines = some.lines.compactMap { try? JSONValue(parsing: $0) }
        #expect(Set(lines.dropLast().compactMap { $0["id"]?.string }) == ["x", "z"])
        #expect(lines.dropLast().allSatisfy { $0["event"] == "document" && $0["outcome"] == "replicated" })
        #expect(lines.last?["sent"]?["revisions"] == 2)
        #expect(try room.run("pull", "c", room.url("hers"), "--id", "z", "--json").json["received"]?["revisions"] == 1)
        #expect(try room.run("docs", "c").lines.count == 1)
    }

    @Test func `a branch is refused where history must be linear, and listed`() throws {
        try room.run("create", "a")
        let first = try room.run("put", "a", "milk", "{}").line
        try room.run("push", "a", room.url("shop"), "--create")
        try room.run("put", room.url("shop"), "milk", #"{"by":"server"}"#, "--rev", first)
        try room.run("put", "a", "milk", #"{"by":"device"}"#, "--rev", first)
        let refused = try room.run("push", "a", room.url("shop"), "--linear", "--json")
        #expect(refused.status == 1 && refused.json["sent"]?["refused"] == 1)
        #expect(refused.error["id"] == "milk" && refused.error["error"] == "refused")
        #expect(try room.run("conflicts", room.url("shop"), "--json").output == "")
    }

    @Test(.timeLimit(.minutes(5)))
    func `a continuous replication replicates changes until it is interrupted`() async throws {
        try room.run("create", room.url("shop"))
        try room.run("create", "a")
        let process = try room.room.start(
            ["sync", "a", room.url("shop"), "--continuous", "--json"], "one", ["HOME": room.room.folder.path])
        await eventually("it is idle") { try room.output("one").contains(#""mode":"idle""#) }
        try room.run("put", room.url("shop"), "milk", "{}")
        await eventually("a document is written") { try room.output("one").contains(#""written":1"#) }
        process.interrupt()
        process.waitForEnd()
        let outcome = try room.room.outcome(process, "one")
        #expect(outcome.status == 0 && outcome.lines.last?.hasPrefix(#"{"ok":true,"#) == true)
        #expect(try room.run("docs", "a").lines.count == 1)
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["push", "pull", "sync"])
    func `Ctrl-C ends a replication with 130, and begins no other direction`(verb: String) throws {
        try room.run("create", room.url("shop"))
        try room.run("put", room.url("shop"), "tea", "{}")
        try room.run("create", "a")
        try room.run("put", "a", "milk", "{}")
        let hasAsked = Guarded(false)
        let slow = FaultPlan("answers late") { _, _ in
            hasAsked.withLock { $0 = true }
            return .delay(.seconds(5))
        }
        let proxy = try FaultProxy(to: room.port, plan: slow)
        defer { proxy.stop() }
        let words = [verb, "a", room.url("shop", behind: proxy), "--json"]
        let process = try room.room.start(words, verb, ["HOME": room.room.folder.path])
        waitUntil("it has asked the server") { hasAsked.withLock { $0 } || !process.isRunning }
        process.interrupt()
        process.waitForEnd()
        let outcome = try room.room.outcome(process, verb)
        #expect(outcome.status == 130 && outcome.json["ok"] == false, "\(outcome)")
        #expect(outcome.errors.contains(#""error":"interrupted""#), "\(outcome.errors)")
        // A `sync` receives first.
        #expect((outcome.json["sent"] == nil) == (verb != "push"), "\(outcome.output)")
        #expect(try room.run("docs", "a").lines.count == 1 && room.run("docs", room.url("shop")).lines.count == 1)
        proxy.follow(.none)
        let again = try room.run(all: words)
        #expect(again.status == 0 && again.json["ok"] == true, "\(again)")
    }

    @Test func `an impossible replication is reported, without the password`() throws {
        try room.run("create", "a")
        for (words, status) in [
            (["push", "a", room.url("none")], 3),
            (["pull", "b", room.url("db", "admin:wrong-one@"), "--no-create"], 3),
            (["push", "a", room.url("db", "admin:wrong-one@")], 5),
            (["push", "a", "http://127.0.0.1:1/db"], 8),
            (["push", "a", "b", "--id", "x", "--selector", "{}"], 2), (["push", "a", "b", "--selector", "{"], 2),
            (["push", "a", "b", "--param", "x=1"], 2), (["push", "a", "a"], 2),
        ] {
            let outcome = try room.run(all: words)
            #expect(outcome.status == status, "\(words): \(outcome.errors)")
            #expect(!outcome.errors.contains("wrong-one") && !outcome.errors.contains("secret-word"))
        }
    }
}
