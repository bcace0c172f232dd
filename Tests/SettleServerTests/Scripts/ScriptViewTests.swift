import Foundation
import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

@Suite(.timeLimit(.minutes(5))) struct ScriptViewTests {
    private static let views: JSONValue = [
        "views": [
            "n": ["map": "function (doc) { emit(doc.n, doc.t) }"],
            "t": [
                "map": "function (doc) { emit([doc.t, doc.n], doc.n) }",
                "reduce": "function (keys, values, again) { return sum(values) }",
            ],
            "c": ["map": "function (doc) { if (doc._conflicts) emit(doc._id, doc._conflicts) }"],
            "lib": ["m": "exports.twice = function (n) { return 2 * n }"],
            "l": ["map": "function (doc) { emit(require('views/lib/m').twice(doc.n)) }"],
        ]
    ]

    private func client(_ count: Int = 1000) throws -> RouterClient {
        let client = try RouterClient.withScripts()
        try client.design("d", Self.views)
        try client.load(
            (0..<count).map { ["_id": .string("d\($0)"), "n": .number(JSONNumber($0)), "t": $0 % 2 == 0 ? "x" : "y"] })
        return client
    }

    private func rows(_ client: RouterClient, _ path: String) throws -> [JSONValue] {
        let answer = try client.send("GET", "/db/_design/d/_view/" + path)
        #expect(answer.status == 200, "\(answer.json)")
        return answer.json["rows"]?.array ?? []
    }

    @Test func `design documents whose names look the same have views of their own`() throws {
        let client = try RouterClient.withScripts()
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
        // The same letter as one character, and as two.
        let names = ["%C3%A9", "e%CC%81"]
        for name in names {
            let map = JSONValue.string("function (doc) { emit('\(name)', 1) }")
            #expect(try client.send("PUT", "/db/_design/\(name)", ["views": ["v": ["map": map]]]).status == 201)
        }
        for name in names + names {
            let rows = try client.send("GET", "/db/_design/\(name)/_view/v").json["rows"]
            #expect(rows?[0]?["key"] == .string(name))
        }
    }

    @Test func `views of a design document whose names look the same have reduce functions of their own`() throws {
        let client = try RouterClient.withScripts()
        #expect(try client.send("PUT", "/db/a", [:]).status == 201)
        // The same letter as one character, and as two: in the names, and in the functions.
        let letters = [("%C3%A9", "\u{E9}"), ("e%CC%81", "e\u{301}")]
        let views = letters.map { _, letter -> (String, JSONValue) in
            let reduce = "function () { return encodeURIComponent('\(letter)') }"
            return (letter, ["map": "function (doc) { emit(doc._id, 1) }", "reduce": .string(reduce)])
        }
        #expect(try client.send("PUT", "/db/_design/d", ["views": .object(JSONObject(views))]).status == 201)
        for (escaped, _) in letters {
            let rows = try client.send("GET", "/db/_design/d/_view/\(escaped)").json["rows"]
            #expect(rows?[0]?["value"] == .string(escaped))
        }
    }

    @Test func `rows follow changes of documents`() throws {
        let client = try client()
        #expect(try rows(client, "n?startkey=998").map { $0["id"] } == ["d998", "d999"])
        let revision = try client.send("GET", "/db/d998").json["_rev"]?.string ?? ""
        #expect(try client.send("PUT", "/db/d998?rev=\(revision)", ["n": -1]).status == 201)
        #expect(try rows(client, "n?limit=1").first?["id"] == "d998")
        #expect(try client.send("GET", "/db/_design/d/_view/n?startkey=990&limit=1").json["offset"] == 991)
        #expect(try rows(client, "l?key=20").map { $0["id"] } == ["d10"])
    }

    @Test func `JavaScript reduces many chunks, and parts of them`() throws {
        let client = try client(3000)
        #expect(try rows(client, "t").first?["value"] == .number(JSONNumber(2999 * 1500)))
        #expect(try rows(client, "t?group_level=1").map { $0["value"]?.int } == [2_248_500, 2_250_000])
        let part = "t?startkey=%5B%22x%22,100%5D&endkey=%5B%22y%22,99%5D"
        let expected = (0..<3000).filter { $0 % 2 == 0 ? $0 >= 100 : $0 <= 99 }.reduce(0, +)
        #expect(try rows(client, part).first?["value"]?.int == expected)
        #expect(try rows(client, "t?group=true").count == 3000)
        #expect(
            try rows(client, "t?group=true&descending=true&skip=2990").map { $0["value"]?.int } == [
                18, 16, 14, 12, 10, 8, 6, 4, 2, 0,
            ])
    }

    @Test func `a long response is sent in pieces and is complete`() throws {
        let client = try client(20_000)
        let all = try rows(client, "n?include_docs=true")
        #expect(all.map { $0["key"]?.int } == (0..<20_000).map { $0 })
        #expect(all.allSatisfy { $0["doc"]?["n"] == $0["key"] })
    }

    /// SEMANTICS 142
    @Test func `a change of a losing branch is seen`() throws {
        let client = try client(1)
        for revision in ["1-bb", "1-aa"] {
            #expect(try client.send("PUT", "/db/k?new_edits=false", ["_rev": .string(revision)]).status == 201)
        }
        #expect(try rows(client, "c").map { $0["value"] } == [["1-aa"]])
        #expect(try client.send("DELETE", "/db/k?rev=1-aa").status == 200)
        #expect(try rows(client, "c").isEmpty)
    }

    @Test func `an unused index is removed, and others stay`() throws {
        let client = try client(10)
        _ = try rows(client, "n")
        let folder = URL(filePath: client.folder.path).appending(path: "db.settle/views")
        func files() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".index") })
        }
        let before = try files()
        #expect(before.count == 1)
        let revision = try client.send("GET", "/db/_design/d").json["_rev"] ?? .null
        try client.design("d", ["_rev": revision, "views": ["n": ["map": "function (doc) { emit(-doc.n) }"]]])
        #expect(try rows(client, "n?limit=1").first?["id"] == "d9")
        #expect(try files().count == 2)
        #expect(try client.send("POST", "/db/_view_cleanup", [:]).status == 202)
        #expect(try files().isDisjoint(with: before) && files().count == 1)
        #expect(try rows(client, "n").count == 10)
    }

    @Test func `an error in a view is reported`() throws {
        let client = try RouterClient.withScripts(timeLimit: 300)
        #expect(
            try client.send("PUT", "/db/_design/s", ["views": ["a": ["map": "function ("]]]).json["error"]
                == "compilation_error")
        try client.design("l", ["views": ["a": ["map": "function () { while (true) {} }"]]])
        try client.load([["_id": "a"]])
        let answer = try client.send("GET", "/db/_design/l/_view/a")
        #expect(answer.status == 500 && answer.json["error"] == "os_process_error")
        #expect(try client.send("GET", "/db/_design/l/_view/b").status == 404)
        #expect(try client.send("GET", "/db/_design/l/_info").json["view_index"]?["updates_pending"]?["total"] == 2)
    }

    @Test func `a hundred hostile views at once block no other request`() throws {
        let client = try RouterClient.withScripts(timeLimit: 1000)
        let scripts = [
            "while (true) {}", "var a = []; while (true) a.push(new Array(1000).fill(1.5))", "(function f() { f() })()",
            "throw { toString: function () { while (true) {} } }", "emit({ toJSON: function () { throw 1 } })",
            "while (true) emit(1, 'much')", "while (true) log('much')", "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        ]
        try client.design("good", ["views": ["v": ["map": "function (doc) { emit(doc._id) }"]]])
        try client.load([["_id": "a"]])
        for number in 0..<100 {
            let script = scripts[number % scripts.count]
            try client.design("h\(number)", ["views": ["v": ["map": .string("function (doc) { \(script) }")]]])
        }
        let answered = Guarded(0)
        let statuses = Guarded<Set<Int>>([])
        for number in 0..<100 {
            Thread.detachNewThread {
                let status = (try? client.send("GET", "/db/_design/h\(number)/_view/v"))?.status ?? 0
                statuses.withLock { _ = $0.insert(status) }
                answered.withLock { $0 += 1 }
            }
        }
        for _ in 0..<50 {
            #expect(try client.send("GET", "/db/a").status == 200)
            #expect(try client.send("PUT", "/other").status != 500)
        }
        #expect(try client.send("PUT", "/other/b", [:]).status == 201)
        _ = try client.send("PUT", "/other/_design/good", ["views": ["v": ["map": "function (doc) { emit(doc._id) }"]]])
        #expect(try client.send("GET", "/other/_design/good/_view/v").json["total_rows"] == 1)
        client.server.stop()
    }
}
