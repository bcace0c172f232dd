import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

struct TransferCommandTests {
    let room: Room

    init() throws { room = try Room() }

    @Test func `import creates the database, counts, and reports malformed lines`() throws {
        try room.write("{\"_id\":\"a\"}\n{\"_id\":\"b\",}\n{\"_id\":\"c\"}\n", to: "in.jsonl")
        let first = try room.run("import", "g.settle", "in.jsonl")
        #expect(first.status == 1 && first.output.hasPrefix("Imported 2 documents in "))
        #expect(first.errors == "line 2, column 12: expected a member's name in quotes\n")
        #expect(first.output.contains("; 1 failed"))
        let second = try room.run("import", "g", "in.jsonl", "--on-conflict", "skip", "--json")
        #expect(second.json["known"] == 2 && second.json["failed"] == 1 && second.json["imported"] == 0)
        #expect(second.error["line"] == 2 && second.error["column"] == 12)
        #expect(try room.run("import", "other", "in.jsonl", "--no-create").status == 3)
    }

    @Test func `an export is imported into an equal database through a pipe of files`() throws {
        try room.run("create", "a")
        let first = try room.run("put", "a", "note", #"{"v":1}"#).line
        try room.run("put", "a", "note", #"{"v":2}"#, "--rev", first)
        try room.run("put", "a", "note", #"{"v":3}"#, "--rev", first, "--allow-conflict")
        let gone = try room.run("put", "a", "gone", "{}").line
        try room.run("delete", "a", "gone", "--rev", gone)
        try room.write(String(repeating: "large ", count: 400_000), to: "large.bin")
        try room.run("attach", "a", "file", "large.bin")
        let text = try room.run("export", "a")
        #expect(text.status == 0 && text.lines.count == 4 + 4)
        let copied = try room.run("import", "b", "-", "--json", input: text.output)
        #expect(copied.status == 0 && copied.json["imported"] == 4)
        #expect(try room.run("export", "b").output == text.output)
        #expect(try room.run("export", "b", "out.jsonl").output.contains("Exported 3 documents"))
        #expect(try String(decoding: room.contents(of: "out.jsonl"), as: UTF8.self) == text.output)
        #expect(!FileManager.default.fileExists(atPath: room.path("out.jsonl.partial")))
        #expect(try room.run("verify", "b").output.hasPrefix("Sound: 3 documents"))
        // Only leaves are exported with their bodies.
        let tree = try room.run("tree", "a", "note").output
        #expect(tree.contains("● 1-") && tree.contains("  base\n"))
        // Imported revisions count as a peer's, so the branch has sides.
        let expected = tree.replacing("● 1-", with: "○ 1-").replacing("  base", with: "")
            .replacing("  winner", with: "  winner, local").replacing("  conflict\n", with: "  conflict, remote\n")
        #expect(try room.run("tree", "b", "note").output == expected)
    }

    @Test func `compact removes old bodies`() throws {
        try room.run("create", "a")
        var revision = try room.run("put", "a", "n", "{}").line
        let first = revision
        for number in 0..<3 { revision = try room.run("put", "a", "n", "{\"v\":\(number)}", "--rev", revision).line }
        #expect(try room.run("compact", "a", "--json").json["bodies"] == 3)
        #expect(try room.run("get", "a", "n", "--rev", first).status == 3)
        #expect(try room.run("tree", "a", "n").output.contains("○ \(first)"))
    }

    @Test func `a follower sees concurrent writes and ends with 130`() async throws {
        try room.run("create", "a")
        try room.run("put", "a", "first", "{}")
        let process = try room.start(["changes", "a", "--follow", "--json"], "follow")
        await eventually("the first is shown") { try room.outcomeText("out-follow").contains("first") }
        #expect(try room.run("put", "a", "second", "{}", "--wait", "5").status == 0)
        await eventually("the second is shown") { try room.outcomeText("out-follow").contains("second") }
        process.interrupt()
        await eventually("it has ended") { !process.isRunning }
        if process.isRunning { process.terminate() }
        process.waitForEnd()
        let outcome = try room.outcome(process, "follow")
        #expect(outcome.status == 130 && outcome.lines.count == 2)
    }

    @Test func `an import that is interrupted while it waits keeps the documents it has read`() async throws {
        let input = Pipe()
        let process = try room.start(["import", "a", "-", "--json"], "wait", input: input)
        try input.fileHandleForWriting.write(contentsOf: Data("{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n".utf8))
        await eventually("it waits for its input") { Room.isWaiting(process, for: input) }
        process.interrupt()
        await eventually("it has ended") { !process.isRunning }
        if process.isRunning { process.terminate() }
        let outcome = try room.outcome(process, "wait")
        #expect(outcome.status == 130 && outcome.json["imported"] == 2)
        #expect(try room.run("docs", "a").lines.count == 2)
        try input.fileHandleForWriting.close()
    }

}

extension Room {
    fileprivate func outcomeText(_ name: String) throws -> String {
        String(decoding: try contents(of: name), as: UTF8.self)
    }

    @Test(arguments: [
        ["http://anna:secret@127.0.0.1:1/db", "target"], ["source", "https://anna:secret@127.0.0.1:1/db"],
        ["http://anna:secret@127.0.0.1:1/a", "http://anna:secret@127.0.0.1:1/b"],
        ["postgres:notes", "http://anna:secret@127.0.0.1:1/db"],
    ])
    func `an exact copy is refused for a URL, with the verbs that replicate`(places: [String]) throws {
        let room = try Room()
        try room.run("create", "source")
        let outcome = try room.run(all: ["copy"] + places)
        #expect(outcome.status == 2 && outcome.output == "", "\(outcome)")
        #expect(outcome.errors.contains("copied with `settle push` or `settle pull`"), "\(outcome)")
        #expect(!outcome.errors.contains("secret") && !FileManager.default.fileExists(atPath: room.path("target")))
        let json = try room.run(all: ["copy"] + places + ["--json"])
        #expect(json.error["error"] == "usage" && json.status == 2, "\(json)")
    }
}
