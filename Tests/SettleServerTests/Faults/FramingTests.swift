import Settle
import Testing

@testable import SettleServer

/// Requests whose end a proxy in front may see elsewhere, over real sockets: they are refused, and nothing after them is read.
@Suite struct FramingTests {
    /// Refused requests, with the request that each would smuggle.
    static let malformed = [
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 0\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: -2\r\n\r\n{}", "Content-Length: +2\r\n\r\n{}", "Content-Length: 2, 2\r\n\r\n{}",
        "Content-Length: 0x2\r\n\r\n{}", "Content-Length: 2 2\r\n\r\n{}", "Content-Length:\r\n\r\n{}",
        "Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length: 9223372036854775808\r\n\r\n{}",
        "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", "Transfer-Encoding: \u{B}chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "X: a\r\n Transfer-Encoding: chunked\r\n\r\n",
        "X: a\nContent-Length: 2\r\n\r\n{}", "Content-Length: 2\n\n{}", "Content-Length: 2\r\n\n{}",
        "X: a\r\n\tb\r\nContent-Length: 2\r\n\r\n{}", "X: a\rContent-Length: 2\r\n\r\n{}",
        "X: a\u{0}b\r\nContent-Length: 2\r\n\r\n{}", "Content Length: 2\r\n\r\n{}",
    ]

    @Test(arguments: malformed)
    func `an ambiguous request is refused`(rest: String) throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        try connection.write(
            "POST /db HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\(rest)"
                + LiveServer.request("PUT", "/smuggled"))
        let answer = String(decoding: (try? connection.readToEnd()) ?? [], as: UTF8.self)
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
        #expect(!answer.contains("HTTP/1.1 2"))
        #expect(try live.send("GET", "/smuggled").head.hasPrefix("HTTP/1.1 404"))
    }

    @Test func `a first line with a bare line feed is refused`() throws {
        let live = try LiveServer()
        let connection = try live.connect()
        try connection.write("GET / HTTP/1.1\nHost: test\r\n\r\n")
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 400"))
    }

    @Test func `chunks require HTTP 1_1`() throws {
        let live = try LiveServer()
        let connection = try live.connect()
        try connection.write("POST /_session HTTP/1.0\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        #expect(try connection.readAnswer().head.contains(" 400 "))
    }

    @Test(arguments: ["-1\r\n{}", "0x2\r\n{}\r\n0\r\n\r\n", "zz\r\n", "FFFFFFFFFFFFFFFFFF\r\n{}", "2\r\n{}xx0\r\n\r\n"])
    func `malformed chunks write nothing`(chunks: String) throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        try connection.write("PUT /db/a HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")
        connection.finishSending()
        let answer = String(decoding: (try? connection.readToEnd()) ?? [], as: UTF8.self)
        #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 4"))
        #expect(try live.send("GET", "/db/a").head.hasPrefix("HTTP/1.1 404"))
    }

    @Test func `many and large fields in many pieces form one header`() throws {
        let live = try LiveServer()
        let connection = try live.connect()
        let fields = (0..<100).map { "X-\($0): \(String(repeating: "x", count: 7 * ($0 % 40)))  \r\n" }.joined()
        for _ in 0..<3 {
            var rest = Substring("GET / HTTP/1.1\r\nHost: test\r\nEmpty:\r\nCookie: a=b; c=d\r\n\(fields)\r\n")
            try connection.write(String(rest.prefix(30)))
            rest = rest.dropFirst(30)
            while !rest.isEmpty {
                try connection.write(Array(rest.prefix(611).utf8))
                rest = rest.dropFirst(611)
            }
            #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test(arguments: [50_000, 2_000_000])
    func `chunks are counted, and exceeding the limit is refused or cut off`(limit: Int) throws {
        let live = try LiveServer { $0.largestUpload = Int64(limit) }
        _ = try live.send("PUT", "/db")
        let head = "PUT /db/a/x HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n"
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 7, count: 65536) + Array("\r\n".utf8)
        let connection = try live.connect()
        try connection.write(head)
        for _ in 0...limit / 65536 { try connection.write(chunk) }
        try connection.write(Array("0\r\n\r\n".utf8))
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 413"))
        let endless = try live.connect()
        try endless.write(head)
        var isCut = false
        for _ in 0..<2000 where !isCut { do { try endless.write(chunk) } catch { isCut = true } }
        #expect(isCut)
        #expect(try live.send("GET", "/db/a").head.hasPrefix("HTTP/1.1 404"))
    }
}
