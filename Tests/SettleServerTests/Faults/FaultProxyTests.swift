import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Each fault, as a client sees it through the proxy.
@Suite(.timeLimit(.minutes(5))) struct FaultProxyTests {
    @Test(arguments: [0, 1, 10, 60, 120], Fault.Ending.allCases)
    func `a request that is cut off has no effect, and gets no answer`(count: Int, ending: Fault.Ending) throws {
        let faulty = try FaultyServer(.cut(.request, after: count, by: ending))
        let connection = try faulty.begin("PUT", "/db/a", #"{"a":1}"#)
        let (text, seen) = connection.readToEnding()
        #expect(text == "")
        #expect(seen == ending)
        #expect(try faulty.has("a") == false)
        let record = try #require(faulty.proxy.records.first)
        #expect(record.isDone && record.requestBytes == count && record.answerBytes == 0)
        #expect(faulty.proxy.statistic == [.cutRequest: 1])
    }

    @Test func `a request cut off after its last byte passes`() throws {
        let faulty = try FaultyServer(.cut(.request, after: 10_000, by: .reset))
        let connection = try faulty.begin("PUT", "/db/a", "{}")
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        #expect(faulty.proxy.records.first?.isDone == false)
        #expect(faulty.proxy.statistic == [.none: 1])
    }

    @Test(arguments: [0, 1, 12, 100], Fault.Ending.allCases)
    func `an answer that is cut off ends after the given bytes, and the write is done`(
        count: Int, ending: Fault.Ending
    ) throws {
        let faulty = try FaultyServer(.cut(.answer, after: count, by: ending))
        let connection = try faulty.begin("PUT", "/db/a", "{}")
        let (text, seen) = connection.readToEnding()
        #expect(text.utf8.count == count)
        #expect("HTTP/1.1 201 ".hasPrefix(text.prefix(13)))
        #expect(seen == ending)
        #expect(try faulty.has("a"))
        #expect(faulty.proxy.records.first?.answerBytes == count)
        #expect(faulty.proxy.records.first?.status == 201)
    }

    @Test(arguments: [(0, 0), (5, 5), (1_000_000, 1)])
    func `a halved answer has the right head and only part of its body`(count: Int, expected: Int) throws {
        let faulty = try FaultyServer(.cut(.body, after: count, by: .close))
        let text = try faulty.begin("GET", "/db/missing").readToEnding().text
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let whole = try faulty.live.send("GET", "/db/missing").body
        #expect(parts[0].contains("Content-Length: \(whole.count)"))
        #expect(parts[1].utf8.count == (count > whole.count ? whole.count - expected : expected))
    }

    @Test func `a halved chunked answer ends within its chunks`() throws {
        let faulty = try FaultyServer(.cut(.body, after: 9, by: .close))
        for number in 0..<20 { _ = try faulty.live.send("PUT", "/db/d\(number)", "{}") }
        let text = try faulty.begin("GET", "/db/_all_docs").readToEnding().text
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
        #expect(parts[0].lowercased().contains("transfer-encoding: chunked"))
        #expect(parts[1].utf8.count == 9)
    }

    @Test func `a delayed answer is complete`() throws {
        let faulty = try FaultyServer(.delay(.seconds(500)), .delay(.milliseconds(50)))
        let waiting = try faulty.begin("PUT", "/db/a", "{}")
        waitUntil { faulty.proxy.records.first?.status == 201 }
        #expect(waiting.readWhatComes(first: 50, then: 0).bytes.isEmpty)
        #expect(try faulty.has("a"))
        let start = ContinuousClock.now
        #expect(try faulty.begin("PUT", "/db/b", "{}").readAnswer().head.hasPrefix("HTTP/1.1 201"))
        #expect(ContinuousClock.now - start >= .milliseconds(50))
        #expect(faulty.proxy.statistic == [.delay: 2])
    }

    @Test func `a slow answer arrives byte by byte, and is complete`() throws {
        let faulty = try FaultyServer(.drip(first: 20, pause: .milliseconds(20)))
        let start = ContinuousClock.now
        let connection = try faulty.begin("GET", "/db/missing")
        #expect(try connection.read(through: "HTTP/1.1 404 ") == "HTTP/1.1 404 ")
        #expect(ContinuousClock.now - start >= .milliseconds(240))
        let rest = try connection.readAnswer()
        #expect(String(decoding: rest.body, as: UTF8.self).contains("not_found"))
        #expect(faulty.proxy.statistic == [.drip: 1])
    }

    @Test func `a request without an answer never reaches the server`() throws {
        let faulty = try FaultyServer(.silence(.milliseconds(200)))
        let start = ContinuousClock.now
        let (text, ending) = try faulty.begin("PUT", "/db/a", "{}").readToEnding()
        #expect(text == "")
        #expect(ending == .close)
        #expect(ContinuousClock.now - start >= .milliseconds(200))
        #expect(try faulty.has("a") == false)
    }

    @Test func `a client that stops waiting for no answer ends the connection`() throws {
        let faulty = try FaultyServer(.silence(.seconds(300)))
        try faulty.begin("GET", "/db").finishSending()
        waitUntil { faulty.proxy.records.first?.isFinished == true }
        #expect(faulty.proxy.records.first?.isFinished == true)
    }

    @Test(arguments: FaultPlan.usualStatuses, Fault.AnswerBody.allCases)
    func `the proxy itself answers with any status, and keeps the connection`(
        status: Int, body: Fault.AnswerBody
    ) throws {
        let faulty = try FaultyServer(.answer(status: status, retryAfter: 7, body: body))
        let connection = try faulty.begin("PUT", "/db/a", #"{"a":1}"#)
        let answer = try connection.readAnswer()
        #expect(answer.head.hasPrefix("HTTP/1.1 \(status) "))
        #expect(answer.head.contains("\r\nRetry-After: 7\r\n"))
        switch body {
        case .couchDB:
            let json = try JSONValue(utf8: answer.body)
            #expect(json["error"]?.string?.isEmpty == false && json["reason"]?.string?.isEmpty == false)
        case .html:
            #expect(answer.head.contains("text/html"))
            #expect(String(decoding: answer.body, as: UTF8.self).contains("<h1>\(status) "))
        }
        #expect(try faulty.has("a") == false)
        try connection.write(LiveServer.request("PUT", "/db/a", "{}"))
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        #expect(faulty.proxy.statistic == [.answer: 1, .none: 1])
    }

    @Test func `the proxy's answer to HEAD has no body`() throws {
        let faulty = try FaultyServer(.answer(status: 503, retryAfter: nil, body: .html))
        let connection = try faulty.begin("HEAD", "/db")
        let head = try connection.read(through: "\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 503"))
        #expect(!head.contains("Retry-After"))
        try connection.write(LiveServer.request("GET", "/db"))
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `a client that expects 100-continue is refused at once`() throws {
        let faulty = try FaultyServer(.answer(status: 413, retryAfter: nil, body: .couchDB))
        let connection = try faulty.connect()
        try connection.write(
            "PUT /db/a HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n")
        let (text, ending) = connection.readToEnding()
        #expect(text.hasPrefix("HTTP/1.1 413 ") && text.contains("Connection: close"))
        #expect(ending == .close)
    }

    @Test func `a server that is down refuses connections until it is brought up`() throws {
        let faulty = try FaultyServer(.refuse(.seconds(500)))
        #expect(try faulty.begin("PUT", "/db/a", "{}").readToEnding().text == "")
        for _ in 0..<3 { #expect(throws: RawConnection.Failure.self) { try faulty.connect() } }
        try faulty.proxy.comeUp()
        #expect(try faulty.begin("GET", "/db/a").readAnswer().head.hasPrefix("HTTP/1.1 404"))
        #expect(faulty.proxy.statistic == [.refuse: 1, .none: 1])
    }

    @Test func `a server that is down comes up automatically, at the same port`() throws {
        let faulty = try FaultyServer(.refuse(.milliseconds(20)))
        #expect(try faulty.begin("PUT", "/db/a", "{}").readToEnding().text == "")
        waitUntil { (try? faulty.connect()) != nil }
        #expect(try faulty.begin("GET", "/db/a").readAnswer().head.hasPrefix("HTTP/1.1 404"))
    }

    @Test func `taking a proxy down cuts all connections, and it comes up on request`() throws {
        let faulty = try FaultyServer()
        let port = faulty.proxy.port
        let connections = try (0..<5).map { _ in
            try faulty.begin("GET", "/db/_changes?feed=continuous&heartbeat=50")
        }
        for connection in connections { _ = try connection.read(through: "\r\n\r\n") }
        faulty.proxy.goDown()
        for _ in 0..<3 { #expect(throws: RawConnection.Failure.self) { try faulty.connect() } }
        for connection in connections { #expect(connection.readToEnding().ending != nil) }
        try faulty.proxy.comeUp()
        #expect(faulty.proxy.port == port)
        #expect(try faulty.begin("GET", "/db").readAnswer().head.hasPrefix("HTTP/1.1 200"))
        waitUntil { faulty.live.server.load.requests == 0 }
    }

    @Test func `too long a length makes a client wait for bytes that never come`() throws {
        let faulty = try FaultyServer(.wrongLength(by: 13))
        let whole = try faulty.live.send("GET", "/db/missing").body
        let (text, ending) = try faulty.begin("GET", "/db/missing").readToEnding()
        #expect(text.contains("Content-Length: \(whole.count + 13)\r\n"))
        #expect(text.hasSuffix("\r\n\r\n" + String(decoding: whole, as: UTF8.self)))
        #expect(ending == .close)
    }

    @Test func `too short a length moves the rest to the front of the next answer`() throws {
        let faulty = try FaultyServer(.wrongLength(by: -5))
        let whole = String(decoding: try faulty.live.send("GET", "/db/missing").body, as: UTF8.self)
        let connection = try faulty.begin("GET", "/db/missing")
        let first = try connection.readAnswer()
        #expect(String(decoding: first.body, as: UTF8.self) == whole.dropLast(5))
        try connection.write(LiveServer.request("GET", "/db"))
        #expect(try connection.read(through: "\r\n\r\n").hasPrefix(whole.suffix(5) + "HTTP/1.1 200"))
    }

    @Test func `answers without a body keep their length`() throws {
        let faulty = try FaultyServer(.wrongLength(by: 5), .cut(.body, after: 1, by: .reset))
        let connection = try faulty.connect()
        for _ in 0..<2 {
            try connection.write(LiveServer.request("HEAD", "/db"))
            #expect(try connection.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
        }
        #expect(faulty.proxy.statistic == [.none: 2])
    }

    @Test func `a request that is delivered twice takes effect twice`() throws {
        let faulty = try FaultyServer(.duplicate)
        let connection = try faulty.begin("PUT", "/db/a", #"{"a":1}"#)
        // The second write of the same revision meets the first.
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 409"))
        #expect(try faulty.has("a"))
        try connection.write(LiveServer.request("GET", "/db/a"))
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 200"))
        let sent = try #require(faulty.proxy.records.first)
        #expect(sent.requestBytes % 2 == 0 && sent.isDone)
        #expect(faulty.proxy.statistic == [.duplicate: 1, .none: 1])

        faulty.proxy.follow(.script([.duplicate]))
        try connection.write(LiveServer.request("POST", "/db", #"{"b":1}"#))
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        let info = try JSONValue(utf8: faulty.live.send("GET", "/db").body)
        #expect(info["doc_count"] == 3)
    }

    @Test func `a request too long to be buffered is delivered once`() throws {
        let faulty = try FaultyServer(.duplicate)
        let connection = try faulty.connect()
        let content = [UInt8](repeating: 7, count: FaultProxy.longestHeld + 70_000)
        try connection.write("PUT /db/a/x HTTP/1.1\r\nHost: test\r\nContent-Length: \(content.count)\r\n\r\n")
        try connection.write(content)
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        #expect(faulty.proxy.records.first?.isDone == false)
        #expect(try faulty.live.send("GET", "/db/a/x").body == content)
    }

    @Test(arguments: Fault.Ending.allCases)
    func `a lost answer leaves the write done`(ending: Fault.Ending) throws {
        let faulty = try FaultyServer(.loseAnswer(by: ending))
        let (text, seen) = try faulty.begin("PUT", "/db/a", "{}").readToEnding()
        #expect(text == "")
        #expect(seen == ending)
        #expect(try faulty.has("a"))
        #expect(faulty.proxy.records.first?.status == 201)
        #expect(faulty.proxy.statistic == [.loseAnswer: 1])
    }

    @Test func `one bit of JSONValue is flipped, and nothing else`() throws {
        let faulty = try FaultyServer(.none)
        for number in 0..<50 { _ = try faulty.live.send("PUT", "/db/d\(number)", "{}") }
        for path in ["/db/missing", "/db/_all_docs"] {
            let whole = try faulty.live.send("GET", path).body
            for position in [0, 1, whole.count / 2, whole.count - 1] {
                faulty.proxy.follow(.always(.flipBit(at: position)))
                let body = try faulty.begin("GET", path).readAnswer().body
                #expect(body.count == whole.count)
                let changed = zip(body, whole).enumerated().filter { $0.element.0 != $0.element.1 }
                #expect(changed.map(\.offset) == [position])
                #expect(changed.first.map { $0.element.0 ^ $0.element.1 } == 1)
            }
        }
        #expect(faulty.proxy.statistic == [.flipBit: 8])
    }

    @Test(arguments: Fault.Ending.allCases)
    func `a connection ends between two requests`(ending: Fault.Ending) throws {
        let faulty = try FaultyServer(.none, .closeAfter(by: ending))
        let connection = try faulty.connect()
        for _ in 0..<2 {
            try connection.write(LiveServer.request("GET", "/db/missing"))
            let answer = try connection.readAnswer()
            #expect(answer.head.hasPrefix("HTTP/1.1 404") && !answer.head.lowercased().contains("connection: close"))
        }
        let (text, seen) = connection.readToEnding()
        #expect(text == "")
        #expect(seen == ending)
        #expect(faulty.proxy.statistic == [.none: 1, .closeAfter: 1])
    }

    @Test func `a report lists the plan, the counts and every request`() throws {
        let faulty = try FaultyServer(.none, .answer(status: 503, retryAfter: 1, body: .html))
        let connection = try faulty.connect()
        for path in ["/db", "/db/a?rev=1-x"] {
            try connection.write(LiveServer.request("GET", path))
            _ = try connection.readAnswer()
        }
        let report = faulty.proxy.report
        #expect(report.hasPrefix("plan: .script([.none, .answer(status: 503, retryAfter: 1, body: .html)])\n"))
        #expect(report.contains("requests: answer 1, none 1\n"))
        #expect(report.contains("#1 on 0: GET /db/a?rev=1-x .answer(status: 503, retryAfter: 1, body: .html): 503, "))
        #expect(!report.contains("Basic"))
    }

    @Test func `a limited number of records is kept, and all are counted`() throws {
        let live = try LiveServer()
        let proxy = try FaultProxy(to: live.port, recordLimit: 3)
        let connection = try RawConnection(port: proxy.port)
        for _ in 0..<10 {
            try connection.write(LiveServer.request("GET", "/"))
            _ = try connection.readAnswer()
        }
        #expect(proxy.records.map(\.number) == [7, 8, 9])
        #expect(proxy.statistic == [.none: 10])
    }
}
