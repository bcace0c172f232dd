import Settle
import Testing

@testable import SettleServer

@Suite struct LiveRequestTests {
    @Test func `many requests use one connection`() throws {
        let live = try LiveServer()
        let connection = try live.connect()
        try connection.write(LiveServer.request("PUT", "/db"))
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        for number in 1...50 {
            try connection.write(LiveServer.request("PUT", "/db/d\(number)", #"{"n":\#(number)}"#))
            #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        }
        // Two at once: the second waits in the socket.
        try connection.write(LiveServer.request("GET", "/db/d1") + LiveServer.request("HEAD", "/db/d2"))
        #expect(String(decoding: try connection.readAnswer().body, as: UTF8.self).contains(#""n":1"#))
        #expect(try connection.read(through: "\r\n\r\n").contains("Content-Length:"))
    }

    @Test func `an answer has CouchDB's headers`() throws {
        let live = try LiveServer()
        let head = try live.send("GET", "/").head
        for line in [
            "Server: CouchDB/3.5.0 (Settle/", "Cache-Control: must-revalidate", "Content-Type: application/json",
        ] {
            #expect(head.contains(line))
        }
        #expect(head.contains("X-Couch-Request-ID: ") && head.contains("X-CouchDB-Body-Time: "))
    }

    @Test func `the path reaches the router as it was sent`() throws {
        let live = try LiveServer()
        #expect(try live.send("PUT", "/a%2Fb").head.hasPrefix("HTTP/1.1 201"))
        #expect(try live.send("PUT", "/a%2Fb/x%2Fy%25", "{}").head.hasPrefix("HTTP/1.1 201"))
        let body = try live.send("GET", "/a%2Fb/_all_docs").body
        #expect(String(decoding: body, as: UTF8.self).contains(#""id":"x/y%""#))
    }

    @Test func `a path with bytes that are not UTF-8 is refused`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        func put(_ name: [UInt8]) throws -> String {
            let connection = try live.connect()
            let rest = " HTTP/1.1\r\nHost: test\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\nContent-Length: 2\r\n\r\n{}"
            try connection.write(Array("PUT /db/".utf8) + name + Array(rest.utf8))
            return try connection.readAnswer().head
        }
        for name: [UInt8] in [[0xFF], [0x61, 0xC3], [0xCC, 0x81] + Array("%FF".utf8)] {
            #expect(try put(name).hasPrefix("HTTP/1.1 400"), "\(name)")
        }
        #expect(try put([0xC3, 0xA4]).hasPrefix("HTTP/1.1 201"))
        #expect(try live.send("GET", "/db/%C3%A4").head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `a chunked body is accepted`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        try connection.write("PUT /db/a HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
        try connection.write("5\r\n{\"a\":\r\n2\r\n1}\r\n0\r\n\r\n")
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
    }

    @Test func `a body over the limit is refused before it is sent`() throws {
        let live = try LiveServer { $0.largestUpload = 1000 }
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        try connection.write("PUT /db/a HTTP/1.1\r\nHost: test\r\nContent-Length: 1001\r\n\r\n")
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 413"))
    }

    @Test func `a header over the limit is refused`() throws {
        let live = try LiveServer()
        let connection = try live.connect()
        try connection.write("GET / HTTP/1.1\r\nHost: test\r\nX: \(String(repeating: "x", count: 100_000))\r\n\r\n")
        let answer = String(decoding: (try? connection.readToEnd()) ?? [], as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 4") || answer.isEmpty)
        #expect(try live.send("GET", "/").head.hasPrefix("HTTP/1.1 200"))
    }

    @Test func `garbage is refused`() throws {
        let live = try LiveServer()
        for text in ["\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "{}"] {
            let connection = try live.connect(seconds: 1)
            try connection.write(text)
            _ = try? connection.read(through: "\r\n")
        }
        #expect(try live.send("GET", "/").head.hasPrefix("HTTP/1.1 200"))
    }
}
