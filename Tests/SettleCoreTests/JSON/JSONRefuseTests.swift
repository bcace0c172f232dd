import Testing

@testable import SettleCore

@Suite struct `JSONValue texts that are refused` {
    private func code(_ bytes: [UInt8]) -> JSONError.Code? {
        do {
            _ = try JSONValue(utf8: bytes)
            return nil
        } catch {
            let validated = #expect(throws: JSONError.self) {
                try bytes.withUnsafeBufferPointer { try JSONValue.validate(utf8: $0) }
            }
            #expect(validated == error)
            return error.code
        }
    }

    private func code(_ text: String) -> JSONError.Code? { code(Array(text.utf8)) }

    @Test(arguments: [
        "nul1", "nULL", "True", "nan", "NaN", "Infinity", "-Infinity", "undefined", "+1", "01", "-01", "00", ".5",
        "-.5",
        "1.e1", "1.x", "0x10", "1e1.5", "1ee1", "1 2", "- 1", "--1", "1_000", "1,000", "1e+-1", "0e+a", "１",
        "'a'", "a", "{a:1}", "{'a':1}", "{1:2}", "[1 2]", "[1,,2]", "[,1]", "[1,]", "[,]", #"{"a":1,}"#, #"{,"a":1}"#,
        #"{"a" 1}"#, #"{"a":}"#, #"{"a"::1}"#, #"{"a":1 "b":2}"#, #"{"a":1;"b":2}"#, #"{"a",1}"#, "{[]:1}", "{null:1}",
        "[}", "{]", "[1}", #"{"a":1]"#, "]", "}", ",", ":", "[]]", "{}}", "[] []", "{} x", "1 x", #""a" "b""#,
        "null,", "true false", "/* c */ 1", "1 // c", "[1,/**/2]", "# 1", "[1\u{A0},2]", "\u{B}1", "\u{C}1", "\u{0}",
        "1\u{0}", "[\u{0}]", "\u{FEFF}1", "\u{FEFF}", "1\u{FEFF}", "[\u{2028}]", "<a>", "(1)", "*",
        #""\x41""#, #""\a""#, #""\'""#, #""\U0041""#, #""\u00g0""#, #""\u 041""#, #""\u+041""#, #""\u004""#, #""\0""#,
        "\"\n\"", "\"\t\"", "\"\u{0}\"", "\"\u{1F}\"", "\"1234567\u{1}\"", "\"12345678\u{1}\"", "{\"a\n\":1}",
        "\"\\\u{1F600}\"", "\"\\\n\"",
    ])
    func `for a byte that is not allowed at its place`(text: String) {
        #expect(code(text) == .syntax)
    }

    @Test(arguments: [
        "", " ", "\n", "n", "nul", "tru", "fals", "-", "1.", "1e", "1e+", "[", "[1", "[1,", "[[]", "{", #"{""#, #"{"a"#,
        #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, "\"", #""a"#, #""\"#, #""\""#, #""\u"#, #""\u0"#, #""\u004"#,
        #""\ud83d"#, #""\ud83d\"#, #""\ud83d\u"#, #""\ud83d\ude0"#,
    ])
    func `for an end inside a value`(text: String) {
        #expect(code(text) == .unexpectedEnd)
    }

    @Test(arguments: [
        #""\ud800""#, #""\uDFFF""#, #""\ude00\ud83d""#, #""\ud83d\ud83d""#, #""\ud83dx""#, #""\ud83d\n""#,
        #""\ud83d\u0041""#, #""\udbff\ue000""#, #""\udc00\udc00""#, #"{"\ud800":1}"#, #""\ud83d ude00 ""#,
    ])
    func `for half of a surrogate pair`(text: String) {
        #expect(code(text) == .loneSurrogate)
    }

    @Test(arguments: [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xC2, 0xC0], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF], [0xE2, 0x82], [0xE2, 0x82, 0x41], [0xE2, 0x41, 0xAC], [0xED, 0xA0, 0x80],
        [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
        [0xF0, 0x9F, 0x98, 0x41], [0xF0, 0x9F, 0x41, 0x80], [0xF0, 0x41, 0x98, 0x80], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xFE], [0xFF],
        [0xFF, 0xFE], [0xE9],
    ])
    func `for bytes that are not UTF-8`(bytes: [UInt8]) {
        for before in 0...9 {
            let quoted = [0x22] + [UInt8](repeating: 0x61, count: before) + bytes
            #expect(code(quoted + [0x22]) == .invalidUTF8)
            #expect(code(quoted) == .invalidUTF8, "at the end of the text")
        }
        #expect(code(bytes) == .syntax, "outside of a string")
    }

    @Test(arguments: [
        "1e400", "-1e400", "1E309", "1.8e308", "0.1e310", "1.0e999999999999999999999", "[1e400]", #"{"a":1e400}"#,
        "1" + String(repeating: "0", count: 309) + ".0", "1" + String(repeating: "0", count: 310) + "e0",
        "1" + String(repeating: "0", count: 400) + "e-200", "0e000000000000000000000000000000000000400",
        String(repeating: "1", count: 65_537), "-" + String(repeating: "1", count: 65_537),
    ])
    func `for a number out of range`(text: String) {
        #expect(code(text) == .numberOutOfRange)
        #expect(JSONNumber(text: text) == nil)
    }

    @Test(arguments: ["[", #"{"a":"#, #"[{"a":"#])
    func `for one level over the limit`(opening: String) {
        let deep = String(repeating: opening, count: JSONLimits.depth + 1)
        #expect(code(deep) == .tooDeep)
    }

    @Test func `when the text ends early, at every byte of it`() {
        let sample = Array(#" {"a":[1,-2.5e+3,true,false,null],"b\u00e9\ud83d\ude00":{"c":"\n/"}} "#.utf8)
        #expect(code(sample) == nil)
        for end in 0..<(sample.count - 2) { #expect(code(Array(sample[..<end])) == .unexpectedEnd, "\(end) bytes") }
    }
}
