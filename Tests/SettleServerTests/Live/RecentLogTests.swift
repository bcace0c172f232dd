import Foundation
import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// The newest lines of the log, which administrators read over HTTP.
@Suite(.timeLimit(.minutes(5))) struct RecentLogTests {
    private func record(
        _ target: String, status: Int? = 200, milliseconds: Int = 1, isCut: Bool = false
    ) -> RequestRecord {
        RequestRecord(
            target: RequestTarget(target), method: "GET", peer: "127.0.0.1", id: "a", user: "anna", status: status,
            bytes: 0, duration: .milliseconds(milliseconds), isCut: isCut)
    }

    private func paths(_ log: ServerLog) -> [String] { log.recent.newest(1000).compactMap { $0["path"]?.string } }

    @Test func `requests that failed, were cut off or took a second are kept, and ordinary ones are not`() {
        let log = ServerLog()
        for ordinary in [
            record("/fast"), record("/missing", status: 404), record("/almost", milliseconds: 999),
            record("/db/_changes?feed=longpoll", milliseconds: 60_000),
            record("/db/_blipsync", status: 101, isCut: true),
            record("/_db_updates?feed=continuous", status: nil, isCut: true),
        ] { log.request(ordinary) }
        #expect(paths(log) == [])
        for notable in [
            record("/slow", milliseconds: 1000), record("/cut", status: nil, isCut: true),
            record("/failed", status: 500),
            record("/db/_changes?feed=normal", milliseconds: 5000), record("/db/_changes?feed=longpoll", status: 503),
        ] { log.request(notable) }
        #expect(
            paths(log) == ["/db/_changes?feed=longpoll", "/db/_changes?feed=normal", "/failed", "/cut", "/slow"])
        let failed = log.recent.newest(10)[2]
        #expect(failed["level"] == "error" && failed["event"] == "request" && failed["status"] == 500)
        #expect(log.recent.newest(10)[3]["level"] == "warning" && log.recent.newest(10)[3]["cut"] == true)
    }

    @Test func `the newest 500 of each kind stay, in the order in which they came`() {
        let log = ServerLog()
        for number in 0..<600 {
            log.notice("event", ["number": "\(number)"])
            log.request(record("/\(number)", status: 500))
        }
        let lines = log.recent.newest(.max)
        #expect(lines.count == 1000)
        #expect(paths(log) == (100..<600).reversed().map { "/\($0)" })
        #expect(lines.compactMap { $0["number"]?.string } == (100..<600).reversed().map { "\($0)" })
        #expect(lines[0]["path"] == "/599" && lines[1]["number"] == "599")
        for number in 0..<2000 {
            log.request(record("/more\(number)", status: 500))
            log.notice("script", ["line": "\(number)"])
        }
        #expect(log.recent.newest(.max).filter { $0["event"] == "event" }.count == 500)
    }

    @Test func `secrets are left out and long texts are cut`() throws {
        let log = ServerLog()
        log.warning("a problem at http://anna:hush@host/", ["text": String(repeating: "ü", count: 5000)])
        log.request(record("/db/\(String(repeating: "x", count: 30_000))?password=hush", status: 500))
        let lines = log.recent.newest(10)
        #expect(lines.count == 2 && !lines.description.contains("hush"))
        #expect(lines.allSatisfy { $0.utf8.count < 5000 })
        #expect(lines[1]["message"] == "a problem at http://*@host/" && lines[1]["level"] == "warning")
        let time = try #require(lines[1]["time"]?.string)
        #expect(time.wholeMatch(of: #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/#) != nil)
    }

    /// Sends a part of a request, and closes the connection.
    private func cut(_ live: LiveServer) throws {
        try live.connect().write(
            "PUT /db/cut HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
    }

    private func newest(_ live: LiveServer) throws -> [JSONValue] {
        let connection = try live.connect()
        try connection.write(
            "GET /_node/_local/_log HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\n\r\n")
        let answer = try connection.readAnswer()
        return try JSONValue(utf8: answer.body)["log"]?.array ?? []
    }

    @Test func `a server without log files shows its administrators what was cut off, and others nothing`() async throws
    {
        let live = try LiveServer()
        #expect(try await live.ask("PUT", "/db").status == 201)
        try cut(live)
        var lines: [JSONValue] = []
        waitUntil("the log has the request") {
            lines = try newest(live)
            return lines.contains { $0["path"] == "/db/cut" }
        }
        let line = try #require(lines.first { $0["path"] == "/db/cut" })
        #expect(line["cut"] == true && line["method"] == "PUT", "\(line)")
        #expect(try await live.ask("GET", "/_node/_local/_log?limit=0").json == ["log": []])
        #expect(try await live.ask("GET", "/_node/_local/_log?limit=x").status == 400)
        #expect(try await live.ask("GET", "/_node/other/_log").status == 404)
        let stranger = try live.connect()
        try stranger.write("GET /_node/_local/_log HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try stranger.readAnswer().head.hasPrefix("HTTP/1.1 401"))
    }
}
