import Settle
import Testing

@testable import SettleServer

@Suite(.timeLimit(.minutes(5))) struct ScriptFilterTests {
    private func client() throws -> RouterClient {
        let client = try RouterClient.withScripts(timeLimit: 500)
        try client.design(
            "f",
            [
                "filters": [
                    "even": "function (doc, req) { return doc.n % 2 === 0 && req.query.no !== doc._id }",
                    "throws": "function () { throw new Error('oh') }", "loops": "function () { while (true) {} }",
                ], "views": ["odd": ["map": "function (doc) { if (doc.n % 2) emit(doc.n) }"]],
            ])
        try client.load((0..<300).map { ["_id": .string("d\($0)"), "n": .number(JSONNumber($0))] })
        return client
    }

    @Test(arguments: ["normal", "longpoll"])
    func `a function decides which changes are shown`(feed: String) throws {
        let client = try client()
        let all = try client.send("GET", "/db/_changes?feed=\(feed)&filter=f/even&no=d2").json["results"]?.array ?? []
        #expect(all.count == 149)
        #expect(all.allSatisfy { $0["id"]?.string.flatMap { Int($0.dropFirst()) }.map { $0 % 2 == 0 } == true })
        let few = try client.send("GET", "/db/_changes?feed=\(feed)&filter=f/even&limit=3&descending=true").json
        #expect(few["results"]?.array?.count == 3)
    }

    @Test func `continuous feeds are filtered as well`() throws {
        let client = try client()
        let lines = try client.send("GET", "/db/_changes?feed=continuous&filter=f/even&limit=5").text.split(
            separator: "\n")
        #expect(lines.count == 6)
        let events = try client.send("GET", "/db/_changes?feed=eventsource&filter=f/even&limit=5").text
        #expect(events.split(separator: "\n").count { $0.hasPrefix("data: {") } == 5)
    }

    @Test func `a view's map function can be a filter`() throws {
        let client = try client()
        let shown = try client.send("GET", "/db/_changes?filter=_view&view=f/odd").json["results"]?.array ?? []
        #expect(shown.count == 150)
    }

    @Test(arguments: [("throws", "Error"), ("loops", "os_process_error")])
    func `errors are reported before the answer begins`(name: String, error: String) throws {
        let answer = try client().send("GET", "/db/_changes?filter=f/\(name)")
        #expect(answer.status == 500 && answer.json["error"] == .string(error))
    }
}
