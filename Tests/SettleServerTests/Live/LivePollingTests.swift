import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Answers that are made on the threads that poll hold nobody up.
@Suite(.serialized) struct LivePollingTests {
    @Test func `reads that have to wait hold up no other`() throws {
        let live = try LiveServer()
        for path in ["/db", "/other"] { _ = try live.send("PUT", path) }
        for path in ["/db/a", "/other/b"] { _ = try live.send("PUT", path, #"{"n":1}"#) }
        let database = try live.server.state.databases.open("db")
        let waiting = try (0..<8).map { _ in try live.connect(seconds: 60) }
        try withAllReaders(of: database) { () throws in
            for connection in waiting { try connection.write(LiveServer.request("GET", "/db/a")) }
            // On each of the threads that poll, and many times.
            for _ in 0..<20 {
                for path in ["/_up", "/other/b"] {
                    #expect(try live.send("GET", path).head.hasPrefix("HTTP/1.1 200"))
                }
            }
        }
        for connection in waiting { #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 200")) }
    }

    @Test func `short and long documents are answered in order on one connection`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let sizes = [1, 60_000, 70_000, 3_000_000, 2]
        for size in sizes {
            let written = try live.send("PUT", "/db/d\(size)", #"{"t":"\#(String(repeating: "x", count: size))"}"#)
            #expect(written.head.hasPrefix("HTTP/1.1 201"))
        }
        let connection = try live.connect(seconds: 60)
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
