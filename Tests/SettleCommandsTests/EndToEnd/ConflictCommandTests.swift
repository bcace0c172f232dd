import Foundation
import Settle
import Testing

struct ConflictCommandTests {
    let room: Room

    init() throws { room = try Room() }

    @Test func `conflicts are listed with their leaves and the changes of each`() throws {
        let base = try room.makeConflicts()
        let output = try room.run("conflicts", "b").output
        #expect(output.contains("milk  base \(try #require(base["milk"]).prefix(10))…\n"))
        #expect(output.contains("  winner, local, changed /name, /count; added /_attachments/oats.txt\n"))
        #expect(output.contains("  remote, changed /count; removed /note\n"))
        #expect(!output.contains("gone"))
        #expect(output.hasSuffix("2 documents in conflict; in 1 there is a deletion and a concurrent edit\n"))
        let all = try room.run("conflicts", "a", "--deletions").output
        #expect(all.contains("gone  base ") && all.contains("  deleted by a user, local\n"))
        #expect(all.contains("  winner, remote, changed /v\n"))
    }

    @Test func `conflicts are listed as JSONValue, and counted`() throws {
        try room.makeConflicts()
        let lines = try room.run("conflicts", "a", "--deletions", "--json").lines.map { try JSONValue(parsing: $0) }
        #expect(lines.map { $0["id"] } == ["bread", "milk", "gone"])
        #expect(lines.map { $0["kind"] } == ["branches", "branches", "deletion"])
        #expect(lines[1]["leaves"]?[0]?["differs"] == ["/name", "/count", "/_attachments/oats.txt"])
        #expect(lines[2]["leaves"]?[1]?["deleted"] == true && lines[2]["leaves"]?[1]?["side"] == "local")
        #expect(try room.run("conflicts", "a", "--limit", "1", "--json").lines.count == 1)
        #expect(try room.run("conflicts", "a", "--limit", "0", "--deletions", "--json").output == "")
        #expect(try room.run("conflicts", "a", "--counts", "--json").json == ["branches": 2, "deletions": 1])
        try room.run("create", "none")
        #expect(try room.run("conflicts", "none").line == "No document is in conflict")
    }

    @Test func `a conflict is shown side by side with the result of a merge`() throws {
        try room.makeConflicts()
        let output = try room.run("show", "a", "milk").output
        #expect(output.hasPrefix("milk: 2 leaves in conflict\n"))
        func row(_ path: String) -> [Substring] {
            output.split(separator: "\n").first { $0.hasPrefix(path + " ") }?.split(separator: " ") ?? []
        }
        #expect(row("/count") == ["/count", "1", "5", "3", "5"])
        #expect(row("/note") == ["/note", "\"?\"", "·", "—", "—"])
        #expect(row("/name").first == "/name" && output.contains("\"Oat milk\""))
        #expect(output.contains("1 other member, the same everywhere\n"))
        #expect(output.contains("clash, decided by the rule “winner”\n"))
        #expect(output.contains("\nWould write\n  ● 4-") && output.contains("  closed for 4-"))
        #expect(!output.contains("\u{1B}"))
        let summed = try room.run("show", "a", "milk", "--merge-rule", "/count=sum").output
        #expect(summed.contains("clash, decided by the rule “sum”\n"))
        let left = try room.run("show", "a", "milk", "--on-clash", "leave").output
        #expect(
            left.contains("→ left in conflict\n") && left.hasSuffix("Nothing would be written; the conflict stays.\n"))
    }

    @Test func `a conflict is shown as JSONValue`() throws {
        try room.makeConflicts()
        let json = try room.run("show", "a", "milk", "--merge-rule=/count=sum", "--json").json
        #expect(json["conflict"] == true && json["policy"] == "threeWayMerge")
        #expect(json["base"]?["count"] == 1 && json["leaves"]?[0]?["doc"]?["count"] == 5)
        let count = json["decision"]?["members"]?.array?.first { $0["path"] == "/count" }
        #expect(count?["result"] == 7 && count?["clash"] == true && count?["base"] == 1)
        #expect(json["writes"]?[0]?["body"]?["name"] == "Oat milk" && json["writes"]?[0]?["rev"] == json["survivor"])
        #expect(json["writes"]?[1]?["body"]?["$closed"] == json["survivor"])
        let single = try room.run("show", "a", "alone", "--json").json
        #expect(single["conflict"] == false && single["doc"]?["v"] == 1)
    }

    @Test func `a document without a conflict is shown, and a deletion against an edit too`() throws {
        try room.makeConflicts()
        #expect(try room.run("show", "a", "alone").output.hasPrefix("alone is not in conflict\n{\"_id\":\"alone\""))
        #expect(try room.run("show", "a", "missing").status == 3)
        let merge = try room.run("show", "a", "gone").output
        #expect(merge.contains("deletion, local") && merge.contains("✕"))
        #expect(merge.contains("threeWayMerge does not decide about deletions, so the edit stays"))
        let deletion = try room.run("show", "a", "gone", "--policy", "deletesWin").output
        #expect(deletion.contains("a deletion wins → settled") && deletion.contains("deleted\n"))
    }

    @Test func `a conflict without a base shows why it has none`() throws {
        func line(_ id: String, _ start: Int, _ ids: String...) -> String {
            let all = ids.map { "\"\($0)\"" }.joined(separator: ",")
            let revisions = "{\"start\":\(start),\"ids\":[\(all)]}"
            return "{\"_id\":\"\(id)\",\"_rev\":\"\(start)-\(ids[0])\",\"_revisions\":\(revisions)}\n"
        }
        try room.run("create", "d")
        for id in ["cutdeletion", "apartdeletion"] {
            try room.run("delete", "d", id, "--rev", try room.run("put", "d", id, "{}").line)
        }
        try room.write(
            line("apart", 1, "a") + line("apart", 1, "b")
                + line("unkept", 2, "b", "a") + line("unkept", 2, "c", "a")
                + line("cut", 3, "c", "b") + line("cut", 1, "a")
                + line("cutdeletion", 3, "c", "b") + line("apartdeletion", 1, "b"),
            to: "all.jsonl")
        #expect(try room.run("import", "d", "all.jsonl", "--json").json["imported"] == 8)
        let (cut, apart) = ("their base is unknown, because revisions were stemmed", "they have no common revision")
        for (id, reason) in [
            ("apart", "leaves in conflict; \(apart)"),
            ("unkept", "leaves in conflict; the body of their base is no longer stored"),
            ("cut", "leaves in conflict; \(cut)"),
            ("cutdeletion", "leaves, a deletion and a concurrent edit; \(cut)"),
            ("apartdeletion", "leaves, a deletion and a concurrent edit; \(apart)"),
        ] {
            #expect(try room.run("show", "d", id).output.hasPrefix("\(id): 2 \(reason)\n"))
            #expect(try room.run("show", "d", id, "--json").json["base"] == .null)
        }
    }

    @Test func `a wrong name suggests the nearest`() throws {
        try room.run("create", "a")
        func error(_ words: String...) throws -> String {
            let outcome = try room.run(all: ["show", "a", "x"] + words)
            #expect(outcome.status == 2)
            return outcome.errors
        }
        #expect(try error("--policy", "threewaymerge").contains("did you mean threeWayMerge?"))
        #expect(try error("--policy", "deleteWins").contains("did you mean deletesWin?"))
        #expect(try error("--policy", "x").contains("there are keepAll, mostRevisions, deletesWin, "))
        #expect(try error("--on-clash", "summ").contains("did you mean sum?"))
        #expect(try error("--merge-rule", "count=sum").contains("\"count\" is not a JSON pointer; write /count"))
        #expect(try error("--merge-rule", "/count").contains("takes PATH=RULE"))
        #expect(try error("--merge-rule", "/a=sum", "--merge-rule", "/a=union").contains("/a has two rules"))
        #expect(try error("--policy", "keepAll", "--on-clash", "sum").contains("keepAll does not merge"))
    }

    @Test func `the tree shows bases, sides and closing tombstones`() throws {
        let base = try room.makeConflicts()
        let open = try room.run("tree", "b", "milk").output
        #expect(open.contains("● \(try #require(base["milk"]))  base\n"))
        #expect(open.contains("  winner, local\n") && open.contains("  conflict, remote\n"))
        #expect(try room.run("tree", "b", "gone").output.contains("  deleted by a user, remote\n"))
        let survivor = try room.run("resolve", "b", "milk", "--on-clash", "sum", "--json").json["rev"]?.string ?? "-"
        let closed = try room.run("tree", "b", "milk").output
        #expect(closed.contains("  closed for \(survivor.prefix(10))…\n") && !closed.contains("base"))
        let rows = try room.run("tree", "b", "milk", "--json").json["revisions"]?.array ?? []
        #expect(rows.compactMap { $0["closed_for"]?.string } == [survivor])
        let gone = try room.run("tree", "a", "gone", "--json").json["revisions"]?.array ?? []
        #expect(gone.filter { $0["deletion"] == true }.count == 1 && gone.filter { $0["base"] == true }.count == 1)
        #expect(gone.filter { $0["remote"] == true }.count == 1)
    }
}
