import Foundation
import Settle
import SettleTesting
import Testing

/// `settle diff` of databases in folders and at a server, and of revisions.
@Suite(.timeLimit(.minutes(5))) struct DiffCommandTests {
    let remote: RemoteRoom

    init() throws {
        remote = try RemoteRoom()
        let room = remote.room
        try room.run("create", "near")
        for id in ["a", "b", "c", "d"] { try room.run("put", "near", id, #"{"v":1}"#) }
        try remote.run("push", "near", remote.url("far"), "--create")
    }

    private func differences(_ words: String...) throws -> [String: String] {
        let outcome = try remote.run(all: ["diff", "near", remote.url("far"), "--json"] + words)
        #expect(outcome.status == (outcome.lines.isEmpty ? 0 : 1), "\(outcome)")
        let rows = try outcome.lines.map { try JSONValue(parsing: $0) }
        return Dictionary(
            rows.map { ($0["id"]?.string ?? "", $0["difference"]?.string ?? "") }, uniquingKeysWith: { $1 })
    }

    @Test func `documents that one lacks, and other winners and leaves are listed until a sync removes them`() throws {
        let room = remote.room
        let equal = try remote.run("diff", "near", remote.url("far"))
        #expect(equal.status == 0 && equal.line == "no difference; 4 equal", "\(equal)")
        let start = try room.run("get", "near", "c").json["_rev"]?.string ?? ""
        try room.run("put", "near", "new", "{}")
        try room.run("put", "near", "a", #"{"v":2}"#, "--force")
        try remote.run("put", remote.url("far"), "other", "{}")
        try room.run("put", "near", "c", #"{"v":2}"#, "--rev", start)
        try remote.run("sync", "near", remote.url("far"))
        #expect(try differences() == [:])
        // A losing branch, a deletion, and documents of one side.
        try room.run("put", "near", "c", #"{"v":3}"#, "--force")
        try remote.run("sync", "near", remote.url("far"))
        try room.run("put", "near", "c", #"{"v":4}"#, "--rev", start, "--allow-conflict")
        try room.run("delete", "near", "b", "--force")
        try room.run("put", "near", "only", "{}")
        try remote.run("put", remote.url("far"), "there", "{}")
        try room.run("put", "near", "d", #"{"v":2}"#, "--force")
        #expect(
            try differences() == [
                "b": "only_second", "c": "leaves", "only": "only_first", "there": "only_second", "d": "winners",
            ])
        #expect(try differences("--deleted")["b"] == "winners")
        let text = try remote.run("diff", remote.url("far"), "near")
        #expect(text.status == 1 && text.output.contains("only in the first"), "\(text.output)")
        #expect(text.lines.first == "DOCUMENT  FIRST                     SECOND" || text.output.contains("DOCUMENT"))
        try remote.run("sync", "near", remote.url("far"))
        #expect(try differences("--deleted") == [:])
    }

    @Test func `documents whose ids look the same are compared apart`() throws {
        // The same letter as one character, and as two.
        try remote.room.run("put", "near", "\u{E9}", "{}")
        try remote.run("put", remote.url("far"), "e\u{301}", "{}")
        let outcome = try remote.run(all: ["diff", "near", remote.url("far"), "--json"])
        let rows = try outcome.lines.map { try JSONValue(parsing: $0) }
        #expect(rows.map { $0["id"] } == ["e\u{301}", "\u{E9}"])
        #expect(rows.map { $0["difference"] } == ["only_second", "only_first"])
    }

    @Test func `of a document that a server lists several times, the last line counts`() throws {
        var rows: [JSONValue] = []
        for id in ["a", "b", "c", "d"] {
            let revision = try #require(try remote.room.run("get", "near", id).json["_rev"])
            let row: JSONValue = ["seq": 1, "id": .string(id), "changes": [["rev": revision]]]
            // A document that changes while it is listed comes again; a cluster repeats others, too.
            rows += id == "a" ? [["seq": 1, "id": "a", "changes": [["rev": "1-0"]]], row] : [row, row]
        }
        rows += [JSONValue](repeating: ["seq": 2, "id": "x", "changes": [["rev": "1-a"]]], count: 3)
        let answer: JSONValue = ["doc_count": 5, "update_seq": 2, "results": .array(rows), "last_seq": 2, "pending": 0]
        let page = try PageServer(answer.description)
        let outcome = try remote.run("diff", "near", "http://127.0.0.1:\(page.port)/db", "--json")
        #expect(outcome.status == 1 && outcome.lines.count == 1, "\(outcome)")
        #expect(outcome.json["id"] == "x" && outcome.json["difference"] == "only_second", "\(outcome)")
        let text = try remote.run("diff", "near", "http://127.0.0.1:\(page.port)/db")
        #expect(text.lines.last == "1 only in the second; 4 equal", "\(text)")
    }

    @Test func `the members of two revisions are compared`() throws {
        let room = remote.room
        let first = try room.run("put", "near", "m", #"{"a/b":1,"gone":[1],"same":true,"in":{"x":1,"y":2}}"#).line
        let second = try room.run(
            "put", "near", "m", #"{"a/b":2,"same":true,"in":{"x":1,"y":3},"new":"text"}"#, "--rev", first
        ).line
        let outcome = try room.run("diff", "near", "m", first, "--json")
        #expect(outcome.status == 1 && outcome.json["second"] == ["rev": .string(second)], "\(outcome)")
        let changes: JSONValue = [
            ["path": "/a~1b", "kind": "changed", "first": 1, "second": 2],
            ["path": "/in/y", "kind": "changed", "first": 2, "second": 3],
            ["path": "/new", "kind": "added", "second": "text"],
            ["path": "/gone", "kind": "removed", "first": [1]],
        ]
        #expect(outcome.json["changes"] == changes, "\(outcome.output)")
        let text = try room.run("diff", "near", "m", second, first)
        #expect(text.status == 1 && text.output.contains("/gone"), "\(text)")
        #expect(try room.run("diff", "near", "m", second).status == 0)
        let tombstone = try room.run("delete", "near", "m", "--force").line
        #expect(try room.run("diff", "near", "m", first, tombstone).status == 1)
    }

    @Test func `what can't be compared is refused with advice`() throws {
        let room = remote.room
        let missing = try room.run("diff", "near", "milk")
        #expect(missing.status == 3 && missing.errors.contains("give a revision as well"), "\(missing.errors)")
        #expect(try room.run("diff", "near", "a", "9-a").status == 3)
        #expect(try room.run("diff", "near", "a", "nonsense").status == 5)
        #expect(try room.run("diff", "near", "near", "--user", "anna").status == 2)
        #expect(try room.run("diff", "near", "a", "1-a", "--deleted").status == 2)
        #expect(try room.run("diff", "near").status == 2)
    }
}
