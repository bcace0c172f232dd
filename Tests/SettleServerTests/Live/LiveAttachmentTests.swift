import Settle
import Testing

@testable import SettleServer

@Suite struct LiveAttachmentTests {
    private let block = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    @Test func `a large attachment is streamed both ways`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let count = 16 * 20
        let connection = try live.connect()
        try connection.write(
            "PUT /db/a/big HTTP/1.1\r\nHost: test\r\nContent-Type: image/x\r\nContent-Length: \(count * block.count)\r\n\r\n"
        )
        for _ in 0..<count { try connection.write(block) }
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        try connection.write(LiveServer.request("GET", "/db/a/big"))
        let answer = try connection.readAnswer()
        #expect(answer.head.hasPrefix("HTTP/1.1 200"))
        #expect(answer.body.count == count * block.count)
        #expect(
            answer.body.prefix(block.count).elementsEqual(block) && answer.body.suffix(block.count).elementsEqual(block)
        )
    }

    @Test func `an interrupted upload leaves no file and no thread`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        for number in 0..<50 {
            let connection = try live.connect()
            try connection.write(
                "PUT /db/a\(number)/big HTTP/1.1\r\nHost: test\r\nContent-Type: image/x\r\nContent-Length: 9000000\r\n\r\n"
            )
            for _ in 0..<20 { try connection.write(block) }
            connection.abort()
        }
        // More of them than workers: if each kept one, this request would not be answered.
        let info = try live.send("GET", "/db")
        #expect(String(decoding: info.body, as: UTF8.self).contains(#""doc_count":0"#))
    }

    @Test func `an interrupted download leaves nothing`() throws {
        let live = try LiveServer()
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        try connection.write(
            "PUT /db/a/big HTTP/1.1\r\nHost: test\r\nContent-Type: image/x\r\nContent-Length: \(100 * block.count)\r\n\r\n"
        )
        for _ in 0..<100 { try connection.write(block) }
        #expect(try connection.readAnswer().head.hasPrefix("HTTP/1.1 201"))
        for _ in 0..<50 {
            let reader = try live.connect()
            try reader.write(LiveServer.request("GET", "/db/a/big"))
            _ = try reader.read(through: "\r\n\r\n")
            reader.abort()
        }
        #expect(try live.send("GET", "/db").head.hasPrefix("HTTP/1.1 200"))
    }
}
