import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// Long bodies that arrive slowly: no client waits for another client's bytes.
@Suite(.serialized) struct SlowUploadTests {
    private static let size = 3_000_000

    /// Starts uploads that stop after the first two megabytes.
    private func begin(_ count: Int, _ live: LiveServer, host: String = "test") throws -> [RawConnection] {
        let bytes = [UInt8](repeating: 0x20, count: 2_000_000)
        return try (0..<count).map { number in
            let connection = try live.connect()
            try connection.write(
                "PUT /db/slow\(number)/x HTTP/1.1\r\nHost: \(host)\r\nContent-Length: \(Self.size)\r\n\r\n")
            try connection.write(bytes)
            return connection
        }
    }

    @Test func `a long body is accepted while many others wait for their clients`() throws {
        let live = try LiveServer { $0.idleTimeout = .seconds(600) }
        _ = try live.send("PUT", "/db")
        let slow = try begin(100, live)
        let connection = try live.connect()
        try connection.write("PUT /db/quick/x HTTP/1.1\r\nHost: test\r\nContent-Length: \(Self.size)\r\n\r\n")
        try connection.write([UInt8](repeating: 0x20, count: Self.size))
        let start = ContinuousClock.now
        let answer = try connection.readAnswer()
        print("a long body beside 100 slow ones: \(ContinuousClock.now - start)")
        #expect(answer.head.hasPrefix("HTTP/1.1 201"))
        let body = #"{"text":"\#(String(repeating: "x", count: Self.size))"}"#
        #expect(try live.send("PUT", "/db/document", body).head.hasPrefix("HTTP/1.1 201"))
        // The slow bodies are stored once they are complete.
        for connection in slow { try connection.write([UInt8](repeating: 0x20, count: Self.size - 2_000_000)) }
        for connection in slow { #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201")) }
        let stored = try live.send("GET", "/db/slow7/x")
        #expect(stored.body.count == Self.size)
        #expect(try FileManager.default.contentsOfDirectory(atPath: live.folder("uploads")).isEmpty)
    }

    @Test func `a client without write access is refused before a long body has arrived`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        for connection in try begin(3, live, host: "nobody") {
            #expect(connection.readWhatComes(first: 200, then: 5).bytes.isEmpty)
            try connection.write([UInt8](repeating: 0x20, count: Self.size - 2_000_000))
            #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 401"))
        }
        #expect(try live.send("GET", "/db/slow0").head.hasPrefix("HTTP/1.1 404"))
    }

    @Test func `a body over its endpoint's limit is refused, and none of it is kept`() throws {
        let live = try LiveServer { $0.largestBody = 2 << 20 }
        _ = try live.send("PUT", "/db")
        for head in ["Content-Length: 5000000", "Transfer-Encoding: chunked"] {
            let connection = try live.connect()
            try connection.write(
                "POST /db/_bulk_docs HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\(head)\r\n\r\n")
            if head.hasPrefix("T") { try connection.write("4C4B40\r\n") }
            try connection.write([UInt8](repeating: 0x20, count: 5_000_000))
            if head.hasPrefix("T") { try connection.write("\r\n0\r\n\r\n") }
            #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 413"))
        }
        // An attachment is streamed, and may be longer.
        let connection = try live.connect()
        try connection.write("PUT /db/a/x HTTP/1.1\r\nHost: test\r\nContent-Length: 5000000\r\n\r\n")
        try connection.write([UInt8](repeating: 0x20, count: 5_000_000))
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
    }
}
