import Testing

@testable import SettleCore

@Suite struct `Positions of JSONValue errors` {
    @Test(arguments: [
        ("", 0, 1, 1), ("x", 0, 1, 1), ("  x", 2, 1, 3), ("\n\nx", 2, 3, 1), ("[1,\n 2,\n  x]", 10, 3, 3),
        ("[1 2]", 3, 1, 4), ("{\"a\" 1}", 5, 1, 6), ("{\"a\":1,}", 7, 1, 8), ("[1,]", 3, 1, 4), ("1 2", 2, 1, 3),
        ("nulx", 3, 1, 4), ("\"a\\x\"", 3, 1, 4), ("\"a\u{1}\"", 2, 1, 3), ("\"ab\\ud800\"", 3, 1, 4),
        ("\"ab\\u00g0\"", 3, 1, 4), ("[1,\r\n1e400]", 5, 2, 1), ("[-]", 2, 1, 3), ("[1.]", 3, 1, 4), ("[01]", 2, 1, 3),
        ("\"é\u{1}\"", 3, 1, 4), ("[\"é\", x]", 7, 1, 8), ("[", 1, 1, 2), ("\n{\"a\":", 6, 2, 6), ("\"abc", 4, 1, 5),
        ("\r\rx", 2, 1, 3), ("\u{FEFF}1", 0, 1, 1), ("1\n\n", -1, 0, 0),
    ])
    func `are exact`(text: String, offset: Int, line: Int, column: Int) {
        do {
            _ = try JSONValue(parsing: text)
            #expect(offset == -1)
        } catch {
            #expect(error.offset == offset)
            #expect(error.line == line)
            #expect(error.column == column)
            #expect(error.description.hasSuffix("at line \(line), column \(column) (byte \(offset))"))
        }
    }

    @Test func `name the byte of invalid UTF-8`() {
        let error = #expect(throws: JSONError.self) { try JSONValue(utf8: [0x0A, 0x22, 0x61, 0xC3, 0x28, 0x22]) }
        #expect(error?.offset == 3)
        #expect(error?.line == 2)
        #expect(error?.column == 3)
    }

    @Test func `name the surplus closing bracket`() {
        let text = String(repeating: "[\n", count: JSONLimits.depth) + "["
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.offset == 2 * JSONLimits.depth)
        #expect(error?.line == JSONLimits.depth + 1)
        #expect(error?.column == 1)
    }

    @Test func `are those of the start for errors without a text`() {
        let error = JSONError(.typeMismatch, "an object is needed")
        #expect((error.offset, error.line, error.column) == (0, 1, 1))
        #expect(error.code.description == "typeMismatch")
    }
}
