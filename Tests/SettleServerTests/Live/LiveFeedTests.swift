import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

@Suite(.serialized) struct LiveFeedTests {
    @Test func `a waiting client receives a change at once`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let feed = try live.connect()
        try feed.write(LiveServer.request("GET", "/db/_changes?feed=continuous&heartbeat=60000"))
        _ = try feed.read(through: "\r\n\r\n")
        for number in 1...20 {
            _ = try live.send("PUT", "/db/d\(number)", "{}")
            #expect(try feed.read(through: "}]}\n").contains(#""id":"d\#(number)""#))
        }
    }

    @Test func `thousands of waiting clients need no thread each, and all are woken`() async {
        // In a process of its own, which has no threads of other tests.
        await #expect(processExitsWith: .success) {
            func threadCount() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            }
            let live = try LiveServer()
            _ = try live.send("PUT", "/db")
            let before = try threadCount()
            let feeds = try (0..<400).map { _ in try live.connect() }
            let query = "feed=longpoll&heartbeat=20000"
            for feed in feeds { try feed.write(LiveServer.request("GET", "/db/_changes?\(query)")) }
            for feed in feeds { _ = try feed.read(through: "\"results\":[") }
            #expect(try threadCount() - before < 100)
            _ = try live.send("PUT", "/db/a", "{}")
            for feed in feeds { #expect(try feed.read(through: "\"pending\":0}\n").contains(#""id":"a""#)) }
        }
    }

    @Test func `heartbeats are sent while nothing changes`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let feed = try live.connect()
        try feed.write(LiveServer.request("GET", "/db/_changes?feed=continuous&heartbeat=50"))
        _ = try feed.read(through: "\r\n\r\n")
        for _ in 0..<3 { #expect(try feed.read(through: "1\r\n\n\r\n") == "1\r\n\n\r\n") }
    }

    @Test func `disconnected clients are noticed at a heartbeat`() throws {
        let live = try LiveServer { $0.connectionLimit = 40 }
        _ = try live.send("PUT", "/db")
        for _ in 0..<5 {
            let feeds = try (0..<20).map { _ in try live.connect() }
            for feed in feeds {
                try feed.write(LiveServer.request("GET", "/db/_changes?feed=continuous&heartbeat=50"))
                _ = try feed.read(through: "\r\n\r\n")
            }
            for feed in feeds { feed.abort() }
            waitUntil { (try? live.send("GET", "/").head.hasPrefix("HTTP/1.1 200")) == true }
        }
    }

    @Test func `a feed ends when its database is deleted`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let feed = try live.connect()
        try feed.write(LiveServer.request("GET", "/db/_changes?feed=continuous"))
        _ = try feed.read(through: "\r\n\r\n")
        _ = try live.send("DELETE", "/db")
        #expect(try feed.read(through: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
    }

    @Test func `stopping ends feeds, lets requests finish and frees the port`() throws {
        let live = try LiveServer { $0.stopTimeout = .seconds(300) }
        let port = live.port
        _ = try live.send("PUT", "/db")
        let feeds = try (0..<20).map { _ in try live.connect() }
        for feed in feeds {
            try feed.write(LiveServer.request("GET", "/db/_changes?feed=continuous"))
            _ = try feed.read(through: "\r\n\r\n")
        }
        live.server.stop()
        for feed in feeds { #expect(try feed.read(through: "0\r\n\r\n").contains("{\"last_seq\":\"0-")) }
        #expect(throws: (any Error).self) { try RawConnection(port: port) }
        live.server.stop()
    }

    @Test(.timeLimit(.minutes(5))) func `stopping does not wait endlessly for an upload without progress`() throws {
        let live = try LiveServer { $0.stopTimeout = .milliseconds(200) }
        _ = try live.send("PUT", "/db")
        let upload = try live.connect()
        try upload.write(
            "PUT /db/a/x HTTP/1.1\r\nHost: test\r\nContent-Type: image/x\r\nContent-Length: 9000000\r\n\r\n"
                + String(repeating: "x", count: 2_000_000))
        live.server.stop()
        #expect(throws: (any Error).self) { try RawConnection(port: live.port) }
    }
}
