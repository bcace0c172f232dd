import Foundation
import Settle
import SettleHTTP
import SettleTesting
import Testing

@testable import SettleServer

/// Clients that are slow, stall, or disconnect: they are dropped, and other clients are not affected.
@Suite(.serialized) struct SlowClientTests {
    /// Sends a byte at a time until the connection is cut; returns whether it was.
    private func drip(_ connection: RawConnection, _ byte: String) -> Bool {
        // Enough for a thread that stands still, and less than what counts as progress.
        for _ in 0..<15_000 {
            do { try connection.write(Array(byte.utf8)) } catch { return true }
            if connection.readWhatComes(first: 20, then: 20).hasEnded { return true }
        }
        return false
    }

    /// An incomplete request: its head, and how many bytes of a body follow.
    struct Beginning: Sendable {
        let head: String
        var body = 0
    }

    @Test(arguments: [
        Beginning(head: ""), Beginning(head: "GET / HT"), Beginning(head: "GET / HTTP/1.1\r\nX: "),
        Beginning(head: "PUT /db/a HTTP/1.1\r\nHost: test\r\nContent-Length: 100000\r\n\r\n"),
        Beginning(head: "PUT /db/a/x HTTP/1.1\r\nHost: test\r\nContent-Length: 9000000\r\n\r\n", body: 2_000_000),
        Beginning(head: "PUT /db/a/x HTTP/1.1\r\nHost: nobody\r\nContent-Length: 9000000\r\n\r\n", body: 2_000_000),
    ])
    func `a client that sends a byte now and then is dropped by the idle limit`(beginning: Beginning) throws {
        let live = try LiveServer { $0.idleTimeout = .seconds(5) }
        let database = try DocumentStore(path: live.folder.path).create("db")
        let connection = try live.connect()
        // A machine that is busy for longer than the limit ends the connection earlier.
        try? connection.write(beginning.head + String(repeating: "x", count: beginning.body))
        #expect(drip(connection, "x"))
        #expect(try database.document("a") == nil)
        waitUntil { live.server.load.requests == 0 }
    }

    @Test func `a slow client that makes progress is served`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        for byte
            in "PUT /db/a HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\nContent-Length: 7\r\n\r\n{\"a\":1}"
            .utf8
        {
            try connection.write([byte])
        }
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
    }

    @Test func `interrupted uploads leave nothing`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        for size in [10, 70_000, 1_500_000] {
            for isReset in [true, false] {
                for target in ["/db/a", "/db/a/x.png", "/db/_bulk_docs"] {
                    let connection = try live.connect()
                    try connection.write(
                        "\(target.hasSuffix("docs") ? "POST" : "PUT") \(target) HTTP/1.1\r\nHost: test\r\n"
                            + "Content-Type: application/json\r\nContent-Length: 4000000\r\n\r\n")
                    try connection.write([UInt8](repeating: 0x20, count: size))
                    if isReset { connection.abort() } else { connection.finishSending() }
                }
            }
        }
        waitUntil { live.server.load == (0, 0) }
        let body = String(decoding: try live.send("GET", "/db").body, as: UTF8.self)
        #expect(body.contains(#""doc_count":0"#))
        let left = (try? FileManager.default.contentsOfDirectory(atPath: live.folder("db/attachments/new"))) ?? []
        #expect(left.isEmpty)
    }

    /// The HTTP library treats it as disconnected if it sees the end before the answer.
    @Test func `a client that closes its half gets a complete answer or none, and keeps no connection`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        for number in 0..<50 {
            let connection = try live.connect()
            try connection.write(LiveServer.request("PUT", "/db/d\(number)", "{}"))
            connection.finishSending()
            let answer = String(decoding: (try? connection.readToEnd()) ?? [], as: UTF8.self)
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 201") && answer.hasSuffix("}\n"))
        }
        waitUntil { live.server.load == (0, 0) }
    }

    @Test(arguments: ["continuous", "eventsource", "longpoll"], [true, false])
    func `a feed that has nothing to send ends when its client goes`(feed: String, isReset: Bool) throws {
        let live = try LiveServer { $0.idleTimeout = .zero }
        _ = try live.send("PUT", "/db")
        let (left, kept) = (try live.connect(), try live.connect())
        waitUntil { live.server.load.requests == 0 }
        for connection in [left, kept] {
            try connection.write("GET /db/_changes?feed=\(feed)&heartbeat=3600000 HTTP/1.1\r\nHost: test\r\n\r\n")
        }
        waitUntil { live.server.load.requests == 2 }
        // A request that follows, and is not read before the answer ends, does not hide that the client has gone.
        try left.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        if isReset { left.abort() } else { left.finishSending() }
        waitUntil { live.server.load.requests == 1 }
        _ = try live.send("PUT", "/db/a", "{}")
        _ = try kept.read(through: #""id":"a""#)
    }
}
