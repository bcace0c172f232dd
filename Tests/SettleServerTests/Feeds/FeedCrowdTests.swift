import Dispatch
import Foundation
import Settle
import Testing

@testable import SettleServer

/// Many concurrent feeds of several kinds: each shows what it would show alone.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FeedCrowdTests {
    /// A client that follows a feed and records it.
    private final class Follower {
        let connection: RawConnection
        private(set) var rows: [JSONValue] = []

        init(_ live: LiveServer, _ query: String) throws {
            connection = try live.connect()
            try connection.write(LiveServer.request("GET", "/db/_changes?\(query)&heartbeat=20000"))
            _ = try connection.read(through: "\r\n\r\n")
        }

        /// Reads lines until a document with that id arrives.
        func read(until id: String) throws {
            while rows.last?["id"]?.string != id {
                let line = try connection.read(through: "\n")
                if line.hasPrefix("{"), let row = try? JSONValue(parsing: line) { rows.append(row) }
            }
        }
    }

    private func write(_ count: Int, to live: LiveServer, from first: Int = 0) throws {
        for number in first..<first + count {
            let parity = number % 2 == 0 ? "even" : "odd"
            _ = try live.send("PUT", "/db/d\(number)", #"{"n":\#(number),"parity":"\#(parity)"}"#)
        }
    }

    @Test func `equal feeds and different feeds each see all of their changes once`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let queries = [
            "feed=continuous", "feed=continuous&include_docs=true", "feed=continuous&style=all_docs",
            "feed=continuous&filter=_doc_ids&doc_ids=%5B%22d3%22%2C%22end%22%5D",
            "feed=continuous&include_docs=true&attachments=true",
        ]
        let followers = try queries.flatMap { query in try (0..<20).map { _ in (query, try Follower(live, query)) } }
        try write(60, to: live)
        _ = try live.send("PUT", "/db/end", #"{"n":60}"#)
        for (query, follower) in followers {
            try follower.read(until: "end")
            let ids = follower.rows.compactMap { $0["id"]?.string }
            let expected = query.contains("_doc_ids") ? ["d3", "end"] : (0..<60).map { "d\($0)" } + ["end"]
            #expect(ids == expected, "\(query)")
            #expect(follower.rows.allSatisfy { ($0["doc"] != nil) == query.contains("include_docs") })
        }
    }

    @Test func `a feed that is far behind catches up while others wait`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let early = try (0..<10).map { _ in try Follower(live, "feed=continuous&since=now") }
        try write(30, to: live)
        let late = try (0..<10).map { _ in try Follower(live, "feed=continuous&since=0") }
        try write(30, to: live, from: 30)
        for follower in early + late {
            try follower.read(until: "d59")
            #expect(follower.rows.compactMap { $0["id"]?.string } == (0..<60).map { "d\($0)" })
        }
    }

    @Test func `a limit ends a feed within a shared page`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let endless = try Follower(live, "feed=continuous")
        let limited = try (1...5).map { try Follower(live, "feed=continuous&limit=\($0)") }
        let documents = (0..<10).map { #"{"_id":"d\#($0)"}"# }.joined(separator: ",")
        _ = try live.send("POST", "/db/_bulk_docs", #"{"docs":[\#(documents)]}"#)
        for (number, follower) in limited.enumerated() {
            try follower.read(until: "d\(number)")
            let tail = try follower.connection.read(through: "0\r\n\r\n")
            let sequence = try #require(follower.rows.last?["seq"]?.string)
            #expect(follower.rows.count == number + 1)
            #expect(tail.contains("{\"last_seq\":\"\(sequence)\",\"pending\":\(9 - number)}\n"))
        }
        try endless.read(until: "d9")
    }

    @Test func `repeated long polling misses nothing and gets nothing twice`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let (port, answered) = (live.port, DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            let writer = try? RawConnection(port: port)
            for number in 0..<100 {
                try? writer?.write(LiveServer.request("PUT", "/db/d\(number)", "{}"))
                _ = try? writer?.readAnswer()
            }
            answered.signal()
        }
        var seen = Array(repeating: [String](), count: 8)
        var since = Array(repeating: "0", count: 8)
        let connections = try seen.map { _ in try live.connect() }
        while seen.contains(where: { $0.count < 100 }) {
            for index in seen.indices where seen[index].count < 100 {
                try connections[index].write(
                    LiveServer.request("GET", "/db/_changes?feed=longpoll&since=\(since[index])"))
            }
            for index in seen.indices where seen[index].count < 100 {
                let answer = try JSONValue(utf8: try connections[index].readAnswer().body)
                seen[index] += answer["results"]?.array?.compactMap { $0["id"]?.string } ?? []
                since[index] = try #require(answer["last_seq"]?.string)
            }
        }
        for ids in seen { #expect(ids == (0..<100).map { "d\($0)" }) }
        #expect(answered.wait(timeout: .now() + 300) == .success)
    }
}
