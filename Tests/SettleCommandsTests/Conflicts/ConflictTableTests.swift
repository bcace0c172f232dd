import Settle
import SettleCore
import SettleDatabase
import Testing

@testable import SettleCommands

struct ConflictTableTests {
    /// A document whose first body, the base, was edited concurrently into the others.
    private func conflict(_ base: JSONValue, _ edits: JSONValue...) throws -> (Database, Conflict) {
        let database = try Database.inMemory()
        let root = try RevisionHistory(start: 1, signatures: [#require(RevisionSignature("a"))])
        var revisions = [ReplicatedRevision(id: "d", history: root, body: try DocumentBody(base))]
        for (index, edit) in edits.enumerated() {
            let signature = try #require(RevisionSignature("\(edits.count - index)"))
            let history = try RevisionHistory(start: 2, signatures: [signature] + root.signatures)
            revisions.append(ReplicatedRevision(id: "d", history: history, body: try DocumentBody(edit)))
        }
        try database.insertReplicated(revisions)
        return (database, try #require(try database.conflict(of: "d")))
    }

    private func table(_ conflict: Conflict, _ preview: SettlementPreview?, width: Int, isFull: Bool = false) -> String
    {
        ConflictTable(conflict, preview: preview, width: width, isFull: isFull).lines.joined(separator: "\n")
    }

    @Test func `base, winner, other leaves and result are shown side by side`() throws {
        let (database, conflict) = try conflict(
            ["n": 1, "o": ["x": 1, "y": 1], "s": "same"], ["n": 2, "o": ["x": 1, "y": 2], "s": "same"],
            ["n": 3, "o": ["x": 2, "y": 1], "s": "same", "new": [1]])
        let preview = try database.preview("d", using: .threeWayMerge())
        #expect(
            table(conflict, preview, width: 80) == """
                          base     winner, local  other, remote  result
                          1-a      2-2            2-1
                          ───────  ─────────────  ─────────────  ───────
                /n        1        2              3              2
                /o/x      1        ·              2              2
                /o/y      1        2              ·              2
                /new      —        ·              [1]            [1]
                1 other member, the same everywhere
                """)
        #expect(table(conflict, nil, width: 80, isFull: true).contains("\n/s        \"same\"   ·"))
    }

    @Test func `cells are wrapped to the width of the terminal`() throws {
        let long = String(repeating: "many words ", count: 30)
        let (database, conflict) = try conflict(
            ["text": "short"], ["text": .string(long)], ["text": .string("一二三" + long)])
        let preview = try database.preview("d", using: .threeWayMerge())
        for width in [60, 80, 120, 200] {
            let lines = ConflictTable(conflict, preview: preview, width: width).lines
            #expect(lines.allSatisfy { TextWidth.of($0) <= width }, "\(width)")
            #expect(lines.count <= 10 && lines.contains { $0.contains("…") } || width == 200, "\(width)")
        }
        let full = ConflictTable(conflict, preview: preview, width: 80, isFull: true).lines
        #expect(full.count > 10 && !full.contains { $0.contains("…") })
    }

    @Test func `leaves that exceed the width are shown in several tables`() throws {
        let edits = (1...7).map { JSONValue.object(["n": .number(JSONNumber($0))]) }
        let (_, conflict) = try conflict(["n": 0], edits[0], edits[1], edits[2], edits[3], edits[4], edits[5], edits[6])
        let wide = table(conflict, nil, width: 160)
        #expect(wide.split(separator: "\n").count == 4)
        let narrow = ConflictTable(conflict, preview: nil, width: 80).lines
        #expect(narrow.count { $0.contains("winner") } == 2 && narrow.count { $0.hasPrefix("/n ") } == 2)
        #expect(narrow.allSatisfy { TextWidth.of($0) <= 80 })
        for number in 1...7 { #expect(narrow.contains { $0.contains("  2-\(number)") }) }
    }

    @Test func `without a base every value is shown`() throws {
        let database = try Database.inMemory()
        for name in ["a", "b"] {
            let history = RevisionHistory(try #require(RevisionID("1-\(name)")))
            try database.insertReplicated([
                ReplicatedRevision(id: "d", history: history, body: try DocumentBody(["v": .string(name), "w": 1]))
            ])
        }
        let conflict = try #require(try database.conflict(of: "d"))
        let text = table(conflict, nil, width: 80)
        #expect(text.contains("/v        \"b\"") && text.contains("\"a\"") && !text.contains("·"))
        #expect(!text.contains("base"))
    }

    @Test func `control characters of a document do not reach the terminal`() throws {
        let (_, conflict) = try conflict(["v": 1], ["v": "\u{9B}2J\u{7F}"], ["v": "\u{1B}[2J"])
        let text = table(conflict, nil, width: 80)
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" })
    }
}
