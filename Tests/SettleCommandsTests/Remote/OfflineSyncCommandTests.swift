import Foundation
import Settle
import Testing

/// The real tool with a journal, and a server on this machine that others write to.
struct OfflineSyncCommandTests {
    let room: RemoteRoom

    init() throws {
        room = try RemoteRoom()
        try room.run("create", room.url("shop"))
        try room.run("create", "a", "--journal")
        try room.run("put", "a", "milk", #"{"count":1}"#)
        #expect(
            try room.run("offline-sync", "a", room.url("shop")).line
                == "Everything is synchronized, 1 operation decided or sent")
    }

    /// Both sides change the document `milk`.
    private func quarrel() throws {
        for (place, count) in [("a", 2), (room.url("shop"), 3)] {
            let read = try room.run("get", place, "milk", "--json").json["_rev"]?.string
            try room.run("put", place, "milk", "{\"count\":\(count)}", "--rev", #require(read))
        }
    }

    private func counts() throws -> [JSONValue?] {
        try ["a", room.url("shop")].map { try room.run("get", $0, "milk").json["count"] }
    }

    @Test func `a refused operation ends the session unless a decision is given`() throws {
        try quarrel()
        let refused = try room.run("offline-sync", "a", room.url("shop"))
        #expect(refused.status == 4)
        #expect(refused.output.contains("UPDATE milk was refused\n  was     {\"count\":1}\n"))
        #expect(refused.output.contains("  mine    {\"count\":2}\n  theirs  {\"count\":3}\n"))
        #expect(refused.output.hasSuffix("1 operation left; run it again to continue\n"))
        #expect(try counts() == [2, 3])
    }

    @Test(arguments: [("mine", 2), ("theirs", 3)])
    func `a policy decides refused operations`(policy: String, count: Int) throws {
        try quarrel()
        let run = try room.run("offline-sync", "a", room.url("shop"), "--on-conflict", policy, "--json")
        let lines = try run.lines.map { try JSONValue(parsing: $0) }
        #expect(lines.map { $0["decision"] } == [.string(policy), nil])
        #expect(lines[0]["conflict"]?["server"] == ["count": 3])
        #expect(lines[1]["ok"] == true && lines[1]["left"] == 0 && lines[1]["state"] == "ONLINE")
        #expect(try counts() == [.number(JSONNumber(count)), .number(JSONNumber(count))])
    }

    @Test func `a prompt offers to keep, take, edit or skip`() throws {
        func answer(_ text: String) throws -> Room.Outcome {
            try room.run(
                "offline-sync", "a", room.url("shop"), "--on-conflict", "ask", input: text,
                environment: ["VISUAL": "", "EDITOR": "sed -i s/2/7/"])
        }
        try quarrel()
        #expect(try answer("s\n").status == 4)
        #expect(try answer("what?\nm\n").status == 0)
        #expect(try counts() == [2, 2])
        try quarrel()
        #expect(try answer("t\n").status == 0)
        #expect(try counts() == [3, 3])
        try quarrel()
        #expect(try answer("e\n").status == 0)
        #expect(try counts() == [7, 7])
    }

    @Test(arguments: [(#"echo '{"count" 9}' >"$1""#, 5), (#"echo '{"count":9}' >"$1"; exit 3"#, 1)])
    func `a text that can't be stored is kept, and the message names its file`(script: String, status: Int) throws {
        try quarrel()
        try room.room.write(script, to: "editor.sh")
        let folder = room.room.folder.path
        let outcome = try room.run(
            "offline-sync", "a", room.url("shop"), "--on-conflict", "ask", input: "e\n",
            environment: ["VISUAL": "", "EDITOR": "sh editor.sh", "TMPDIR": folder])
        #expect(Int(outcome.status) == status, "\(outcome)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        let kept = try #require(files.first { $0.hasPrefix("settle-") && $0.hasSuffix(".json") })
        #expect(outcome.errors.contains("kept in \(room.room.path(kept))"), "\(outcome.errors)")
        #expect(String(decoding: try room.room.contents(of: kept), as: UTF8.self).contains("9}"))
        #expect(try counts() == [2, 3])
    }

    @Test func `invalid options are reported`() throws {
        #expect(try room.run("offline-sync", "a", "b").status == 2)
        try room.run("create", "plain")
        #expect(try room.run("offline-sync", "plain", room.url("shop")).status == 3)
        #expect(try room.run("offline-sync", "a", room.url("none")).status == 3)
        #expect(try room.run("offline-sync", "a", "http://127.0.0.1:1/a").status == 8)
    }
}
