import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Long operations at a server, and how they end.
struct RemoteFeedTests {
    @Test(.timeLimit(.minutes(5)))
    func `a follower sees concurrent writes and ends with 130`() async throws {
        let remote = try RemoteRoom()
        try remote.run("create", remote.url())
        try remote.run("put", remote.url(), "first", "{}")
        let process = try remote.room.start(["changes", remote.url(), "--follow", "--json"], "follow")
        defer { if process.isRunning { process.terminate() } }
        await eventually("the first is shown") { try remote.output("follow").contains("first") }
        #expect(try remote.run("put", remote.url(), "second", #"{"v":1}"#).status == 0)
        await eventually("the second is shown") { try remote.output("follow").contains("second") }
        process.interrupt()
        await eventually("it has ended") { !process.isRunning }
        let outcome = try remote.room.outcome(process, "follow")
        #expect(outcome.status == 130 && outcome.lines.count == 2)
        let rows = try outcome.lines.map { try JSONValue(parsing: $0) }
        #expect(rows.map { $0["id"] } == ["first", "second"])
        let since = try #require(rows[0]["seq"]?.string)
        let rest = try remote.run("changes", remote.url(), "--since", since, "--json")
        #expect(rest.lines == [outcome.lines[1]])
        let limited = try remote.run("changes", remote.url(), "--follow", "--limit", "2", "--json")
        #expect(limited.status == 0 && limited.lines == outcome.lines)
    }

    @Test(.timeLimit(.minutes(5)))
    func `an import that is interrupted while it waits keeps the documents it has read`() async throws {
        let remote = try RemoteRoom()
        let input = Pipe()
        let process = try remote.room.start(["import", remote.url(), "-", "--json"], "wait", input: input)
        defer { if process.isRunning { process.terminate() } }
        try input.fileHandleForWriting.write(contentsOf: Data("{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n".utf8))
        await eventually("it waits for its input") { Room.isWaiting(process, for: input) }
        process.interrupt()
        await eventually("it has ended") { !process.isRunning }
        let outcome = try remote.room.outcome(process, "wait")
        #expect(outcome.status == 130 && outcome.json["imported"] == 2)
        #expect(try remote.run("docs", remote.url()).lines.count == 2)
        try input.fileHandleForWriting.close()
    }

    @Test(.timeLimit(.minutes(5)))
    func `large attachments are uploaded and downloaded unchanged`() throws {
        let remote = try RemoteRoom()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        try Data(bytes).write(to: remote.room.folder.appending(path: "big"))
        try remote.run("create", remote.url())
        for type in ["image/x", "text/plain"] {
            #expect(try remote.run("attach", remote.url(), type, "big", "--type", type).status == 0)
            #expect(try remote.run("get", remote.url(), type, "--attachment", "big", "-o", "back").status == 0)
            #expect(try remote.room.contents(of: "back") == Data(bytes))
        }
        // An export equals that of a folder with the same documents, and imports to an equal database.
        #expect(try remote.run("export", remote.url(), "there.jsonl").status == 0)
        #expect(try remote.run("import", "copy", "there.jsonl").status == 0)
        #expect(try remote.run("export", "copy", "here.jsonl").status == 0)
        #expect(try remote.room.contents(of: "here.jsonl") == remote.room.contents(of: "there.jsonl"))
        #expect(try remote.run("import", remote.url("twin"), "here.jsonl", "--json").json["imported"] == 2)
        #expect(try remote.run("export", remote.url("twin"), "twin.jsonl").status == 0)
        // Large attachments are sent concurrently, in any order.
        let twin = try remote.room.contents(of: "twin.jsonl").split(separator: 10)
        #expect(try Set(twin) == Set(remote.room.contents(of: "there.jsonl").split(separator: 10)))
    }

    @Test(.timeLimit(.minutes(5)))
    func `an export of a database that is written to all the time warns that it is not one state`() throws {
        let remote = try RemoteRoom()
        try remote.run("create", remote.url())
        let database = try remote.server.state.databases.open("db")
        let written = Guarded(0)
        // More documents than a server reads from one state are changed before each page.
        let plan = FaultPlan("writes before each page") { _, _ in
            let first = written.withLock { number in
                number += 20
                return number - 20
            }
            try? database.transaction {
                for number in first..<first + 20 {
                    try database.save(
                        Document(id: DocumentID(unchecked: "d\(number)"), body: ["n": .number(JSONNumber(number))]),
                        onConflict: .lastWriteWins)
                }
            }
            return .none
        }
        let proxy = try FaultProxy(to: remote.server.port, plan: plan.only(on: "_changes"))
        let busy = try remote.run("export", remote.url("db", behind: proxy), "busy.jsonl", "--json")
        #expect(busy.status == 0 && busy.json["documents"] != nil, "\(busy)")
        #expect(
            busy.error["warning"]?.string?.contains("is not the state at one point in time") == true, "\(busy.errors)")
        proxy.follow(.none)
        let quiet = try remote.run("export", remote.url("db", behind: proxy), "quiet.jsonl", "--json")
        #expect(quiet.status == 0 && quiet.errors == "", "\(quiet)")
    }

    @Test func `the tool waits for a compaction unless told otherwise`() throws {
        let remote = try RemoteRoom()
        try remote.run("create", remote.url())
        let first = try remote.run("put", remote.url(), "a", #"{"v":1}"#).line
        try remote.run("put", remote.url(), "a", #"{"v":2}"#, "--rev", first)
        #expect(try remote.run("compact", remote.url(), "--no-wait").status == 0)
        let done = try remote.run("compact", remote.url(), "--json")
        #expect(done.status == 0 && done.json["ok"] == true && done.json["bytes"]?.int != nil)
        #expect(try remote.run("get", remote.url(), "a", "--rev", first).status == 3)
        #expect(try remote.run("tree", remote.url(), "a").output.contains("○ \(first)"))
        let info = try remote.run("info", remote.url(), "--json").json
        #expect(info["doc_count"] == 1 && info["revs_limit"] == 1000 && info["path"]?.string == remote.url("db", ""))
        #expect(try remote.run("compact", "folder", "--no-wait").status == 2)
    }

    @Test func `a conflict settled on a server gets the same revisions as on this machine`() throws {
        // SEMANTICS 87
        let remote = try RemoteRoom()
        try remote.room.makeConflicts()
        try remote.run("export", "a", "a.jsonl")
        try remote.run("import", remote.url(), "a.jsonl")
        let policy = ["--policy", "deletesWin"]
        let here = try remote.run("resolve", "a", "--all", policy[0], policy[1], "--json").json
        let there = try remote.run("resolve", remote.url(), "--all", policy[0], policy[1], "--json").json
        #expect(there["settled"] == here["settled"] && there["written"] == here["written"] && here["failed"] == 0)
        #expect(there["failed"] == 0 && (here["settled"]?.int ?? 0) > 1)
        #expect(try remote.room.leaves(remote.url()) == remote.room.leaves("a"))
    }

    @Test func `a conflict is edited in an editor`() throws {
        let remote = try RemoteRoom()
        try remote.run("create", remote.url())
        let base = try remote.run("put", remote.url(), "a", #"{"v":1}"#).line
        try remote.run("put", remote.url(), "a", #"{"v":2}"#, "--rev", base)
        try remote.run("put", remote.url(), "a", #"{"v":3}"#, "--rev", base, "--allow-conflict")
        try remote.room.write(#"printf '{"v": 9}\n' >"$1""#, to: "editor.sh")
        let edited = try remote.run(
            "resolve", remote.url(), "a", "--edit",
            environment: ["VISUAL": "", "EDITOR": "sh editor.sh", "TMPDIR": remote.room.folder.path])
        #expect(edited.status == 0 && edited.line.hasSuffix(", as edited"))
        #expect(try remote.run("get", remote.url(), "a").json["v"] == 9)
        #expect(try remote.run("conflicts", remote.url(), "--counts", "--json").json["branches"] == 0)
    }
}
