import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Answers made on the polling threads block no other request.
@Suite(.serialized) struct LivePollingTests {
    @Test func `reads that have to wait block no other`() throws {
        let live = try LiveServer()
        for path in ["/db", "/other"] { _ = try live.send("PUT", path) }
        for path in ["/db/a", "/other/b"] { _ = try live.send("PUT", path, #"{"n":1}"#) }
        let database = try live.server.state.databases.open("db")
        let waiting = try (0..<8).map { _ in try live.connect() }
        try withAllReaders(of: database) { () throws in
            for connection in waiting { try connection.write(LiveServer.request("GET", "/db/a")) }
            // On each of the polling threads, many times.
            for _ in 0..<20 {
                for path in ["/_up", "/other/b"] {
                    #expect(try live.send("GET", path).head.hasPrefix("HTTP/1.1 200"))
                }
            }
        }
        for connection in waiting { #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 200")) }
    }

    @Test(arguments: 0..<4)
    func `an edit that waits for a rewrite of its database blocks no feed and no read of another`(round: Int) throws {
        let live = try LiveServer()
        for path in ["/db", "/other"] { _ = try live.send("PUT", path) }
        _ = try live.send("PUT", "/other/b", "{}")
        let feeds = try (0..<3).map { _ in try live.connect() }
        for feed in feeds {
            try feed.write(LiveServer.request("GET", "/other/_changes?feed=continuous&since=now&heartbeat=50"))
            _ = try feed.read(through: "\r\n\r\n")
        }
        // Many edits in a row, as a client that writes alone sends them.
        let writer = try live.connect()
        for edit in 0..<20 {
            try writer.write(LiveServer.request("PUT", "/db/a\(edit)", "{}"))
            #expect(try writer.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        }
        let database = try live.server.state.databases.open("db")
        waitUntil("only the feeds are left") { live.server.load.requests == feeds.count }
        // A rewrite, such as SQLite's VACUUM, blocks writers from its beginning to its end.
        try database.transaction {
            try database.save(Document(id: "own", body: [:]), onConflict: .fail)
            try writer.write(LiveServer.request("PUT", "/db/b", "{}"))
            waitUntil("the server has the edit") { live.server.load.requests == feeds.count + 1 }
            for feed in feeds {
                for _ in 0..<20 { _ = try feed.read(through: "1\r\n\n\r\n") }
            }
            for path in ["/_up", "/other/b", "/db/a0"] {
                #expect(try live.send("GET", path).head.hasPrefix("HTTP/1.1 200"))
            }
        }
        #expect(try writer.readAnswer().head.hasPrefix("HTTP/1.1 201"))
    }

    @Test func `short and long documents are answered in order on one connection`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let sizes = [1, 60_000, 70_000, 3_000_000, 2]
        for size in sizes {
            let written = try live.send("PUT", "/db/d\(size)", #"{"t":"\#(String(repeating: "x", count: size))"}"#)
            #expect(written.head.hasPrefix("HTTP/1.1 201"))
        }
        let connection = try live.connect()
        for round in 0..<5 {
            let order = sizes.map { $0 } + sizes.reversed()
            try connection.write(order.map { LiveServer.request("GET", "/db/d\($0)") }.joined())
            for size in order {
                let answer = try connection.readAnswer()
                #expect(answer.head.hasPrefix("HTTP/1.1 200"), "round \(round)")
                #expect(answer.body.count { $0 == UInt8(ascii: "x") } == size)
            }
        }
    }
}
