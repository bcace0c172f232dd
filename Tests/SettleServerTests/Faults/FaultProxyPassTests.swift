import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Without a fault, all bytes between client and server pass unchanged.
@Suite(.timeLimit(.minutes(5))) struct FaultProxyPassTests {
    @Test func `a series of requests on one connection is answered as without the proxy`() throws {
        let faulty = try FaultyServer()
        let plain = try LiveServer()
        _ = try plain.send("PUT", "/db")
        let through = try series(faulty.connect())
        let direct = try series(plain.connect())
        #expect(through.count == direct.count)
        for (index, (one, other)) in zip(through, direct).enumerated() {
            #expect(one.head == other.head, "answer \(index)")
            #expect(one.body == other.body, "answer \(index)")
        }
        #expect(faulty.proxy.statistic == [.none: through.count])
    }

    /// A server's answers to requests of many kinds, without the fields that vary between calls.
    private func series(_ connection: RawConnection) throws -> [(head: [String], body: [UInt8])] {
        let content = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let length = "Content-Length: \(content.count)\r\n\r\n"
        let json = "Host: test\r\nContent-Type: application/json\r\n"
        let chunked = "PUT /db/c HTTP/1.1\r\n\(json)Transfer-Encoding: chunked\r\n\r\n"
        var answers: [(head: [String], body: [UInt8])] = []
        func add(_ head: String, _ body: [UInt8] = []) {
            let differing = ["Date:", "X-Couch-Request-ID:", "X-CouchDB-Body-Time:"]
            let lines = head.split(separator: "\r\n").map(String.init)
            answers.append((lines.filter { line in !differing.contains { line.hasPrefix($0) } }, body))
        }
        func ask(_ text: String, _ content: [UInt8] = []) throws {
            try connection.write(text)
            try connection.write(content)
            let answer = try connection.readAnswer()
            add(answer.head, answer.body)
        }
        try ask(LiveServer.request("PUT", "/db/a", #"{"a":1}"#))
        try ask(LiveServer.request("GET", "/db/a"))
        try ask("PUT /db/b/x HTTP/1.1\r\nHost: test\r\nContent-Type: image/png\r\n\(length)", content)
        try ask(LiveServer.request("GET", "/db/b/x"))
        #expect(answers.last?.body == content)
        try ask("\(chunked)3;a=b\r\n{\"c\r\n6\r\n\":[1]}\r\n0\r\nX: y\r\n\r\n")
        try ask(LiveServer.request("GET", "/db/c"))
        #expect(answers.last.map { String(decoding: $0.body, as: UTF8.self).contains(#""c":[1]"#) } == true)
        let tag = answers[1].head.first { $0.hasPrefix("ETag:") }?.dropFirst(6) ?? ""
        for method in ["HEAD", "GET"] {
            let condition = method == "GET" ? "If-None-Match: \(tag)\r\n" : ""
            try connection.write("\(method) /db/a HTTP/1.1\r\n\(condition)Host: test\r\n\r\n")
            add(try connection.read(through: "\r\n\r\n"))
        }
        #expect(answers.last?.head.first == "HTTP/1.1 304 Not Modified")
        try ask(LiveServer.request("GET", "/db/_all_docs?include_docs=true"))
        try ask(LiveServer.request("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"d"},{"_id":"a"}]}"#))
        try ask(LiveServer.request("DELETE", "/db/a"))
        try ask(LiveServer.request("PUT", "/db/e", "{"))
        try ask(LiveServer.request("GET", "/nowhere"))
        return answers
    }

    @Test func `pipelined requests are answered in order`() throws {
        let faulty = try FaultyServer()
        let connection = try faulty.connect()
        let writes = (0..<50).map { LiveServer.request("PUT", "/db/d\($0)", "{}") }
        let reads = (0..<50).map { LiveServer.request("GET", "/db/d\($0)") }
        try connection.write((writes + reads).joined())
        for _ in 0..<50 { #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201")) }
        for number in 0..<50 {
            #expect(String(decoding: try connection.readAnswer().body, as: UTF8.self).contains(#""_id":"d\#(number)""#))
        }
        #expect(faulty.proxy.records.map(\.number) == Array(0..<100))
    }

    @Test func `a continuous feed delivers changes at once, and ends when its client disconnects`() throws {
        let faulty = try FaultyServer()
        var feed: RawConnection? = try faulty.begin("GET", "/db/_changes?feed=continuous&heartbeat=50")
        _ = try feed?.read(through: "\r\n\r\n")
        for number in 1...20 {
            _ = try faulty.live.send("PUT", "/db/d\(number)", "{}")
            #expect(try feed?.read(through: "}]}\n").contains(#""id":"d\#(number)""#) == true)
        }
        waitUntil { faulty.live.server.load.requests == 1 }
        feed = nil
        waitUntil { faulty.live.server.load.requests == 0 }
        waitUntil { faulty.proxy.records.first?.isFinished == true }
    }

    @Test func `a client's half-close reaches the server`() throws {
        let faulty = try FaultyServer()
        let connection = try faulty.connect()
        try connection.write("PUT /db/a HTTP/1.1\r\nHost: test\r\nContent-Length: 100\r\n\r\n{")
        connection.finishSending()
        // Otherwise it would wait for the rest.
        #expect(connection.readToEnding().ending != nil)
        waitUntil { faulty.proxy.records.first?.isFinished == true }
        #expect(try faulty.has("a") == false)
    }

    @Test func `a client that expects 100-continue receives it`() throws {
        let faulty = try FaultyServer(.delay(.milliseconds(10)), .loseAnswer(by: .close))
        for number in 0..<2 {
            let connection = try faulty.connect()
            try connection.write(
                "PUT /db/d\(number) HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            #expect(try connection.read(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100"))
            try connection.write("{}")
            #expect(connection.readWhatComes(first: 300_000, then: 50).bytes.isEmpty == (number == 1))
            #expect(try faulty.has("d\(number)"))
        }
    }

    @Test(arguments: FramingTests.malformed)
    func `an ambiguous request passes unchanged`(rest: String) throws {
        let faulty = try FaultyServer(.always(.answer(status: 500, retryAfter: nil, body: .html)))
        let connection = try faulty.connect()
        try connection.write("POST /db HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\(rest)")
        connection.finishSending()
        let (text, ending) = connection.readToEnding()
        #expect(ending != nil)
        #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 4"))
        let record = try #require(faulty.proxy.records.first)
        #expect(record.method.isEmpty && record.fault == .none)
    }

    @Test func `a connection to an absent server ends`() throws {
        let gone = try FaultProxy(to: 1)
        gone.stop()
        let proxy = try FaultProxy(to: gone.port)
        let connection = try RawConnection(port: proxy.port)
        try connection.write(LiveServer.request("GET", "/"))
        let (text, ending) = connection.readToEnding()
        #expect(text.isEmpty && ending == .close)
        #expect(throws: RawConnection.Failure.self) { try RawConnection(port: gone.port) }
    }
}
