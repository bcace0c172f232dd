import Settle
import SettleHTTP
import Testing

@testable import SettleServer

/// Delivers a body a few bytes at a time, so that boundaries are cut anywhere.
private final class Trickle: RequestBody, @unchecked Sendable {
    // One thread uses it in these tests, so it needs no lock.
    private var rest: ArraySlice<UInt8>
    private let step: Int
    let declaredLength: Int64? = nil

    init(_ text: String, step: Int) {
        rest = ArraySlice(text.utf8)
        self.step = step
    }

    func read() -> [UInt8]? {
        let piece = Array(rest.prefix(step))
        rest = rest.dropFirst(step)
        return piece.isEmpty ? nil : piece
    }
}

@Suite struct MultipartReaderTests {
    private func parts(_ text: String, step: Int, type: String = "multipart/related; boundary=\"b\"") throws -> [String]
    {
        var reader = try MultipartReader(Trickle(text, step: step), contentType: type)
        var parts: [String] = []
        while let headers = try reader.nextPart() {
            var content: [UInt8] = []
            while let piece = try reader.readContent() { content += piece }
            parts.append("\(headers["X"] ?? "-"):\(String(decoding: content, as: UTF8.self))")
        }
        return parts
    }

    @Test(arguments: [1, 2, 3, 5, 7, 100_000])
    func `parts are found, however the body is cut into pieces`(step: Int) throws {
        let text = "--b\r\nX: 1\r\n\r\none\r\n--b\r\n\r\n\r\n--ax\r\n\r\n--b\r\nx:3\r\nY: z\r\n\r\n\r\n--b--\r\nrest"
        #expect(try parts(text, step: step) == ["1:one", "-:\r\n--ax\r\n", "3:"])
    }

    @Test func `a long content is delivered in bounded pieces`() throws {
        let long = String(repeating: "x\r\n--", count: 100_000)
        #expect(try parts("--b\r\nX: 1\r\n\r\n\(long)\r\n--b--", step: 10_000) == ["1:\(long)"])
    }

    @Test(arguments: ["", "--b", "--b\r\nX: 1", "--b\r\nX: 1\r\n\r\n", "--b\r\nX: 1\r\n\r\none\r\n--", "nothing"])
    func `a truncated body is refused`(text: String) {
        #expect(throws: HTTPError.self) { _ = try parts(text + (text == "--b" ? "\r\n" : ""), step: 3) }
    }

    @Test func `a type without a boundary is refused`() {
        #expect(throws: HTTPError.self) { _ = try parts("--b--", step: 3, type: "multipart/related; start=x") }
    }
}
