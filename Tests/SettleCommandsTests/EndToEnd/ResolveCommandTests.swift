import Foundation
import Settle
import Testing

struct ResolveCommandTests {
    let room: Room

    init() throws {
        room = try Room()
        try room.makeConflicts()
    }

    private func get(_ database: String, _ id: String) throws -> JSONValue { try room.run("get", database, id).json }

    @Test func `both copies settle at once and are equal without another exchange`() throws {
        let rules = ["--merge-rule", "/count=sum"]
        let first = try room.run(all: ["resolve", "a", "--all"] + rules)
        #expect(first.status == 0)
        #expect(first.output.hasPrefix("Settled 2 conflicts by threeWayMerge in "))
        #expect(first.line.hasSuffix(", 4 revisions written"))
        let second = try room.run(all: ["resolve", "b", "--all", "--json"] + rules)
        #expect(second.json["ok"] == true && second.json["settled"] == 2 && second.json["written"] == 4)
        #expect(try room.leaves("a") == room.leaves("b"))
        let exchange = try room.run("sync", "a", "b", "--json").json
        #expect(exchange["sent"]?["revisions"] == 0 && exchange["received"]?["revisions"] == 0)
        let milk = try get("a", "milk")
        #expect(milk["count"] == 7 && milk["name"] == "Oat milk" && milk["note"] == nil)
        #expect(milk["_attachments"]?["oats.txt"]?["length"] == 17)
        #expect(try get("b", "bread")["price"] == 3 && get("b", "bread")["weight"] == 750)
        #expect(try room.run("conflicts", "a").output.hasPrefix("No document is in conflict; in 1 there is a deletion"))
        #expect(try room.run("resolve", "a", "--all", "--policy", "deletesWin", "--json").json["settled"] == 1)
        #expect(try room.run("get", "a", "gone").status == 3)
    }

    @Test func `one leaf is kept, by its first digits`() throws {
        let leaves = try room.run("conflicts", "a", "--json").lines.map { try JSONValue(parsing: $0) }[1]["leaves"]
        let other = try #require(leaves?[1]?["rev"]?.string)
        let unknown = try room.run("resolve", "a", "milk", "--keep", "9-f")
        #expect(unknown.status == 5 && unknown.errors.contains("9-f is not a leaf of the conflict; there are 3-"))
        #expect(try room.run("resolve", "a", "milk", "--keep", "").status == 5)
        let kept = try room.run("resolve", "a", "milk", "--keep", String(other.prefix(8)) + "…")
        #expect(kept.output.hasPrefix("milk: settled as 4-") && kept.line.hasSuffix(", \(other.prefix(10))… was kept"))
        #expect(try get("a", "milk")["count"] == 3)
        #expect(try room.run("resolve", "a", "milk", "--keep", other).line == "milk: not in conflict")
    }

    @Test func `a document is deleted, and a deletion or an edit is kept`() throws {
        #expect(try room.run("resolve", "a", "milk", "--delete").line.hasSuffix(", deleted"))
        #expect(try room.run("get", "a", "milk").status == 3)
        let undecided = try room.run("resolve", "a", "gone", "--policy", "threeWayMerge")
        #expect(undecided.status == 0 && undecided.line.contains("which threeWayMerge leaves"))
        #expect(try room.run("resolve", "b", "gone", "--policy", "localWins", "--json").json["outcome"] == "settled")
        #expect(try get("b", "gone")["v"] == 2)
        #expect(try room.run("resolve", "a", "gone", "--policy", "localWins").status == 0)
        #expect(try room.run("get", "a", "gone").status == 3)
    }

    @Test func `the result can be previewed without writing`() throws {
        let before = try room.leaves("a")
        let one = try room.run("resolve", "a", "milk", "--policy", "mostRevisions", "--dry-run").output
        #expect(one.hasPrefix("mostRevisions: 3-") && one.contains("it is the winner every read shows → settled\n"))
        let all = try room.run("resolve", "a", "--all", "--on-clash", "leave", "--dry-run")
        #expect(all.lines.count == 3 && all.lines[1].hasPrefix("milk ") && all.lines[1].contains("  left  a clash"))
        #expect(all.lines[2] == "threeWayMerge would settle 1 conflict and leave 1; nothing was written")
        let json = try room.run("resolve", "a", "--all", "--policy", "deletesWin", "--dry-run", "--json").lines
        #expect(json.count == 3 && json.allSatisfy { $0.contains("\"survivor\":\"") })
        #expect(try room.leaves("a") == before)
        let survivor = try room.run("show", "a", "bread", "--json").json["survivor"]
        #expect(try room.run("resolve", "a", "bread", "--policy", "threeWayMerge", "--json").json["rev"] == survivor)
    }

    @Test func `a preview says what becomes of the document, and what is lost`() throws {
        func preview(_ words: String...) throws -> String {
            try room.run(all: ["resolve", "a"] + words + ["--dry-run"]).output
        }
        let merged = try preview("milk", "--policy", "threeWayMerge")
        #expect(merged.contains("\nMerges 2 leaves, 1 clash\nLost\n  2-") && merged.contains("…  /count 3\n"))
        let summed = try preview("milk", "--merge-rule", "/count=sum")
        #expect(summed.contains("\nNothing is lost: every change is in the result.\n"))
        let kept = try preview("milk", "--policy", "mostRevisions")
        #expect(kept.contains("\nKeeps 3-") && kept.contains("…  the removal of /note\n"))
        let gone = try preview("gone", "--policy", "deletesWin")
        #expect(gone.contains("\nDeletes the document, with 1 member\nLost\n"))
        #expect(gone.contains("…  the document\n") && gone.contains("…  /v 2\n"))
        let effect = try room.run("resolve", "a", "milk", "--delete", "--dry-run", "--json").json["effect"]
        #expect(effect?["outcome"] == "deletes" && effect?["lost"]?[0]?["kind"] == "document")
        #expect(effect?["lost"]?.array?.contains { $0["path"] == "/_attachments/oats.txt" } == true)
        let all = try preview("--all", "--policy", "deletesWin")
        #expect(all.contains("deletes it  ") && all.contains("; lost: 2 changes\n"))
        #expect(
            all.hasSuffix(
                "deletesWin would settle 3 conflicts, 1 of them by deleting the document, and leave 0; nothing was written\n"
            ))
    }

    @Test func `a conflict that the policy leaves stays, and is not a failure`() throws {
        let left = try room.run("resolve", "a", "milk", "--policy", "keepAll")
        #expect(left.status == 0 && left.line == "milk: left in conflict, every leaf is kept")
        #expect(try room.run("resolve", "a", "--all", "--policy", "keepAll").line.hasSuffix("; 2 left in conflict"))
        #expect(try room.run("conflicts", "a", "--json").lines.count == 2)
    }

    @Test func `exactly one way of resolving must be given`() throws {
        for words in [
            [], ["--keep", "1-a", "--delete"], ["--delete", "--edit"], ["--keep", "1-a", "--policy", "keepAll"],
            ["--delete", "--on-clash", "sum"], ["--all", "--policy", "keepAll"],
        ] {
            #expect(try room.run(all: ["resolve", "a", "milk"] + words).status == 2, "\(words)")
        }
        #expect(try room.run("resolve", "a", "--all", "--delete").status == 2)
        #expect(try room.run("resolve", "a", "--policy", "keepAll").errors.contains("ID is missing"))
        #expect(try room.run("resolve", "a", "missing", "--policy", "keepAll").status == 3)
    }

    @Test func `a failed conflict is listed and does not stop the others`() throws {
        // A revision of the highest generation can't have a child.
        let highest = "9223372036854775807"
        let lines = ["a", "b"].map { #"{"_id":"aaa","_rev":"\#(highest)-\#($0)","v":"\#($0)"}"# }
        let imported = try room.run("import", "a", "-", input: lines.joined(separator: "\n"))
        #expect(imported.status == 0)
        let outcome = try room.run("resolve", "a", "--all", "--policy", "mostRevisions")
        #expect(
            outcome.status == 1 && outcome.errors.hasPrefix("aaa: ") && outcome.errors.contains("highest generation"))
        #expect(
            outcome.output.hasPrefix("Settled 2 conflicts by mostRevisions") && outcome.line.hasSuffix("; 1 failed"))
        let again = try room.run("resolve", "a", "--all", "--policy", "mostRevisions", "--json")
        #expect(again.status == 1 && again.json["failed"] == 1 && again.error["id"] == "aaa")
    }
}
