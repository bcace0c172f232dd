import Settle
import SettlePlatform
import SettleScripting
import Testing

@testable import SettleServer

/// Texts from JavaScript that end in the middle of a character beyond U+FFFF.
@Suite(.timeLimit(.minutes(5))) struct HalfSurrogateTests {
    private static let cut = "ab\u{FFFD}"

    private func client(_ design: JSONValue) throws -> RouterClient {
        let client = try RouterClient.withScripts()
        try client.load([["_id": "x", "t": "ab😄cd"], ["_id": "y", "t": "plain"]])
        try client.design("u", design)
        return client
    }

    private func rows(_ client: RouterClient, _ path: String) throws -> [JSONValue] {
        let answer = try client.send("GET", "/db/_design/u/_view/\(path)")
        #expect(answer.status == 200, "\(answer.json)")
        return answer.json["rows"]?.array ?? []
    }

    @Test func `rows with half a character stay, and so do those of the other views`() throws {
        let client = try client([
            "views": [
                "ok": ["map": "function (d) { emit(d._id, 1) }"],
                "key": ["map": "function (d) { emit(d.t.substring(0, 3), null) }"],
                "value": [
                    "map": "function (d) { emit(d._id, {c: [d.t.substring(3)], n: {['\\uD83D']: '\\\\ud83d'}}) }"
                ],
                "both": ["map": "function (d) { emit(d.t.substring(0, 3) + '😄' + d.t.substring(3)) }"],
            ]
        ])
        #expect(try rows(client, "ok").map { $0["id"] } == ["x", "y"])
        #expect(try rows(client, "key").map { $0["key"] } == [.string(Self.cut), "pla"])
        #expect(try rows(client, "key?key=%22ab%EF%BF%BD%22").map { $0["id"] } == ["x"])
        #expect(
            try rows(client, "value").first?["value"] == ["c": ["\u{FFFD}cd"], "n": ["\u{FFFD}": "\\ud83d"]])
        #expect(try rows(client, "both").first?["key"] == .string("ab\u{FFFD}😄\u{FFFD}cd"))
    }

    @Test func `a reduce function may give half a character`() throws {
        let client = try client([
            "views": [
                "r": [
                    "map": "function (d) { emit(d._id, d.t) }",
                    "reduce": "function (keys, values) { return values.join('').substring(0, 3) }",
                ]
            ]
        ])
        #expect(try rows(client, "r").first?["value"] == .string(Self.cut))
        #expect(try rows(client, "r?group=true").map { $0["value"] } == [.string(Self.cut), "pla"])
    }

    @Test func `a rule and an update function may give half a character`() throws {
        let client = try client([
            "validate_doc_update": "function (d) { if (d.no) throw({forbidden: d.t.substring(0, 3)}) }",
            "updates": [
                "u": "function (d, r) { return [{_id: 'made', c: '😄'.charAt(0)}, {body: '😄'.charAt(1) + '!'}] }",
                "e": "function (d, r) { throw new Error('😄'.charAt(0)) }",
            ],
            "filters": ["f": "function (d) { throw({error: 'e', reason: d.t.substring(0, 3)}) }"],
        ])
        let refused = try client.send("PUT", "/db/z", ["no": true, "t": "ab😄cd"])
        #expect(refused.status == 403 && refused.error == "forbidden: \(Self.cut)")
        let updated = try client.send("POST", "/db/_design/u/_update/u")
        #expect(updated.status == 201 && updated.text == "\u{FFFD}!", "\(updated.text)")
        #expect(try client.send("GET", "/db/made").json["c"] == "\u{FFFD}")
        #expect(try client.send("POST", "/db/_design/u/_update/e").json["reason"] == "\u{FFFD}")
        let filtered = try client.send("GET", "/db/_changes?filter=u/f")
        #expect(filtered.error == "e: \(Self.cut)", "\(filtered.text)")
    }

    @Test func `functions on trial may give half a character`() throws {
        let client = try client([:])
        let answer = try client.send(
            "POST", "/db/_try",
            [
                "functions": ["map": "function (d) { log(d.t.substring(0, 3)); emit(d.t.substring(0, 3)) }"],
                "docs": ["limit": 20],
            ])
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.text.contains(Self.cut) && !answer.text.contains("\\ud83d"))
    }

    @Test func `half a character in a log line is replaced`() throws {
        let lines = Guarded<[String]>([])
        let client = try RouterClient { options in
            options.scripts = .built
            options.scripts?.log = { _, line in lines.withLock { $0.append(line) } }
        }
        #expect(try client.send("PUT", "/db").status == 201)
        try client.design("u", ["views": ["v": ["map": "function (d) { log('ab😄'.substring(0, 3)) }"]]])
        try client.load([["_id": "x"]])
        #expect(try client.send("GET", "/db/_design/u/_view/v").status == 200)
        #expect(lines.withLock(\.self) == [Self.cut])
    }

    @Test func `a value nested as deep as a document may be costs no other view its rows`() throws {
        let lines = Guarded<[String]>([])
        let client = try RouterClient { options in
            options.scripts = .built
            options.scripts?.log = { _, line in lines.withLock { $0.append(line) } }
        }
        #expect(try client.send("PUT", "/db").status == 201)
        let nested = "var v = 1; for (var i = 0; i < d.n; i++) v = [v];"
        try client.design(
            "u",
            [
                "views": [
                    "ok": ["map": "function (d) { emit(d._id, 1) }"],
                    "deep": ["map": .string("function (d) { \(nested) emit(d._id, v); emit(d._id, 2) }")],
                ]
            ])
        try client.load([["_id": "x", "n": 1024], ["_id": "y", "n": 1025]])
        #expect(try rows(client, "ok").map { $0["id"] } == ["x", "y"])
        #expect(try client.send("GET", "/db/_design/u/_view/deep?limit=0").json["total_rows"] == 3)
        #expect(lines.withLock(\.self) == ["1 rows can't be stored as JSON with doc._id y"])
    }
}
