import Dispatch
import Settle
import SettleHTTP
import Testing

@testable import SettleServer

@Suite struct RouterChangesTests {
    @Test func `a feed resumes from its position`() throws {
        let client = try RouterClient.withDatabase()
        for name in ["a", "b", "c"] { _ = try client.send("PUT", "/db/\(name)", [:]) }
        let first = try client.send("GET", "/db/_changes?limit=2").json
        #expect(first["pending"] == 1 && first["results"]?.array?.count == 2)
        let since = try #require(first["last_seq"]?.string)
        let rest = try client.send("GET", "/db/_changes?since=\(since)").json
        #expect(rest["results"]?.array?.map { $0["id"] } == ["c"] && rest["pending"] == 0)
        #expect(try client.send("GET", "/db/_changes?since=now").json["results"] == [])
        #expect(try client.send("GET", "/db/_changes?since=%22\(since)%22").json == rest)
    }

    @Test func `long polling waits for a change, and not past its timeout`() throws {
        let client = try RouterClient.withDatabase()
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) { _ = try? client.send("PUT", "/db/a", [:]) }
        let woken = try client.send("GET", "/db/_changes?feed=longpoll").json
        #expect(woken["results"]?.array?.count == 1)
        let timedOut = try client.send("GET", "/db/_changes?feed=longpoll&since=now&timeout=50").json
        #expect(timedOut["results"] == [] && timedOut["last_seq"] == woken["last_seq"])
    }

    @Test func `a filter by ids is checked before anything is sent`() throws {
        let client = try RouterClient.withDatabase()
        for name in ["a", "b", "c"] { _ = try client.send("PUT", "/db/\(name)", [:]) }
        let body: JSONValue = ["doc_ids": ["c", "a", "none"]]
        let shown = try client.send("POST", "/db/_changes?filter=_doc_ids", body).json["results"]?.array
        #expect(shown?.map { $0["id"] } == ["a", "c"])
        #expect(try client.send("POST", "/db/_changes?filter=_doc_ids", [:]).status == 400)
    }

    @Test func `continuous feeds send one line per change and end with their position`() throws {
        let client = try RouterClient.withDatabase()
        for name in ["a", "b", "c"] { _ = try client.send("PUT", "/db/\(name)", [:]) }
        let lines = try client.send("GET", "/db/_changes?feed=continuous&timeout=50").lines
        #expect(lines.map { $0["id"] } == ["a", "b", "c", nil])
        #expect(lines.last?["last_seq"] == lines[2]["seq"] && lines.last?["pending"] == 0)
        let two = try client.send("GET", "/db/_changes?feed=continuous&limit=2").lines
        #expect(two.map { $0["id"] } == ["a", "b", nil])
    }

    @Test func `events have their position as id`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/a", [:])
        let answer = try client.send("GET", "/db/_changes?feed=eventsource&timeout=50")
        #expect(answer.headers["Content-Type"] == "text/event-stream")
        #expect(answer.text.hasPrefix("data: {\"seq\":\"1-"))
        #expect(answer.text.contains("\nid: \"1-"))
        let last = try #require(try client.send("GET", "/db").json["update_seq"]?.string)
        let later = try client.send(
            "GET", "/db/_changes?feed=eventsource&timeout=50", headers: ["Last-Event-ID": last])
        #expect(later.text.isEmpty)
    }

    @Test func `a position in a deleted database of the same name is ignored`() throws {
        let client = try RouterClient.withDatabase()
        for name in ["a", "b"] { _ = try client.send("PUT", "/db/\(name)", [:]) }
        let old = try #require(try client.send("GET", "/db").json["update_seq"]?.string)
        #expect(try client.send("GET", "/db/_changes?since=\(old)").json["results"] == [])
        _ = try client.send("DELETE", "/db")
        _ = try client.send("PUT", "/db")
        for name in ["c", "d"] { _ = try client.send("PUT", "/db/\(name)", [:]) }
        #expect(try client.send("GET", "/db/_changes?since=\(old)").json["results"]?.array?.count == 2)
        #expect(try client.send("GET", "/db/_changes?since=2").json["results"] == [])
    }

    @Test func `long polling does not wait repeatedly for a purge`() throws {
        let client = try RouterClient.withDatabase()
        let revision = try #require(try client.send("PUT", "/db/a", [:]).json["rev"])
        _ = try client.send("POST", "/db/_purge", ["a": [revision]])
        let feed = try client.send("GET", "/db/_changes?feed=longpoll&timeout=50").json
        #expect(feed["results"] == [] && feed["pending"] == 0)
    }

    @Test(arguments: ["continuous", "eventsource", "longpoll"])
    func `a descending feed ends at the beginning`(feed: String) throws {
        let client = try RouterClient.withDatabase()
        for name in ["a", "b"] { _ = try client.send("PUT", "/db/\(name)", [:]) }
        let path = "/db/_changes?feed=\(feed)&descending=true&filter=_doc_ids&doc_ids=[%22none%22]&heartbeat=60000"
        let response = client.server.router.respond(
            to: ServerRequest(
                method: "GET", target: RequestTarget(path), headers: ["Authorization": "Basic YWRtaW46YWRtaW4="],
                body: BufferedBody()))
        guard case .stream(let stream, _) = response.body.content else { return #expect(response.status == 200) }
        stream.begin {}
        defer { stream.end() }
        var hasEnded = false
        for _ in 0..<10 where !hasEnded { if case .end = try stream.next() { hasEnded = true } }
        #expect(hasEnded)
    }

    /// The text of a feed, and how many steps it took.
    private func read(_ client: RouterClient, _ path: String, _ body: JSONValue) throws -> (text: String, steps: Int) {
        let response = client.server.router.respond(
            to: ServerRequest(
                method: "POST", target: RequestTarget(path),
                headers: ["Authorization": "Basic YWRtaW46YWRtaW4=", "Content-Type": "application/json"],
                body: BufferedBody(Array(body.description.utf8))))
        guard case .stream(let stream, _) = response.body.content else {
            #expect(response.status == 200)
            return ("", 0)
        }
        var (text, steps) = ("", 0)
        while true {
            steps += 1
            switch try stream.next() {
            case .piece(let bytes): text += String(decoding: bytes, as: UTF8.self)
            case .wait: Issue.record("there is nothing to wait for")
            case .end: return (text, steps)
            }
        }
    }

    private func withDocuments(_ count: Int) throws -> RouterClient {
        let client = try RouterClient.withDatabase()
        let docs = (0..<count).map { JSONValue.object(JSONObject([("_id", .string("d\(10_000 + $0)"))])) }
        _ = try client.send("POST", "/db/_bulk_docs", ["docs": .array(docs)])
        return client
    }

    @Test func `a feed whose filter passes nothing yields after a few pages`() throws {
        let client = try withDocuments(4000)
        let answer = try read(client, "/db/_changes?filter=_selector", ["selector": ["none": 1]])
        #expect(answer.steps > 5)
        #expect(try JSONValue(parsing: answer.text)["results"] == [] && answer.text.contains("\"last_seq\":\"4000-"))
    }

    @Test func `changes of a few named documents are looked up, not searched for`() throws {
        let client = try withDocuments(4000)
        _ = try client.send("PUT", "/db/_design/x", [:])
        let ids: JSONValue = ["doc_ids": ["d13999", "d10007", "none", "d11000"]]
        func rows(_ options: String, _ body: JSONValue = ids) throws -> [JSONValue?] {
            let answer = try read(client, "/db/_changes?\(options)", body)
            #expect(answer.steps < 6)
            let json = try JSONValue(parsing: answer.text)
            #expect(json["results"]?.array?.allSatisfy { $0["doc"] != nil } == true || !options.contains("include"))
            return json["results"]?.array?.map { $0["id"] } ?? []
        }
        #expect(try rows("filter=_doc_ids") == ["d10007", "d11000", "d13999"])
        #expect(try rows("filter=_doc_ids&limit=2&include_docs=true") == ["d10007", "d11000"])
        #expect(try rows("filter=_doc_ids&descending=true") == ["d13999", "d11000", "d10007"])
        #expect(try rows("filter=_doc_ids&since=8") == ["d11000", "d13999"])
        #expect(try rows("filter=_design", [:]) == ["_design/x"])
        let text = try read(client, "/db/_changes?filter=_doc_ids", ids).text
        #expect(text.contains("\"last_seq\":\"4001-"))
    }

    @Test func `a POST in place of a GET needs no body`() throws {
        let client = try RouterClient.withDatabase()
        _ = try client.send("PUT", "/db/a", [:])
        let answer = try client.send(
            "POST", "/db/_changes?filter=_doc_ids&doc_ids=[%22a%22]", bytes: nil,
            headers: ["X-HTTP-Method-Override": "GET"])
        #expect(answer.json["results"]?.array?.count == 1)
    }
}
