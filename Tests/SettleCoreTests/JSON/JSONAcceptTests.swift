import Testing

@testable import SettleCore

@Suite struct `JSONValue texts that are accepted` {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "1", "-1", "10", "1234567890", "0.0", "-0.0", "0.5", "1.50", "1e1", "1E1",
        "1e+1", "1e-1", "1E+01", "1E-00", "0e0", "0E+9", "0.0e-9", "123e45", "-1.5e-3", "9007199254740993",
        "18446744073709551616", "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "4.9e-324",
        "1e-400", "0.1e-999999999", "0e999999999", "1e0000000000000000000001",
    ])
    func `numbers and words`(text: String) throws {
        #expect(try JSONValue(parsing: text).description == text)
    }

    @Test(arguments: [
        (#""""#, ""), (#""a""#, "a"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041""#, "A"),
        (#""\u0000""#, "\0"), (#""\u001f\u001F""#, "\u{1F}\u{1F}"), (#""\u00e9\u00E9""#, "éé"),
        (#""\u20AC""#, "€"), (#""\uFFFF""#, "\u{FFFF}"), (#""\ud7ff\ue000""#, "\u{D7FF}\u{E000}"),
        (#""\ud83d\ude00""#, "😀"), (#""\uD800\uDC00""#, "\u{10000}"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
        ("\"é€😀\"", "é€😀"), ("\"\u{7F}\u{80}\"", "\u{7F}\u{80}"), ("\"\u{2028}\u{FEFF}\"", "\u{2028}\u{FEFF}"),
        ("\"'\"", "'"), (#""/""#, "/"), (#""\\u0041""#, #"\u0041"#), (#""\\\\""#, #"\\"#),
        ("\"12345678\"", "12345678"), ("\"1234567\\n\"", "1234567\n"),
        (#""12345678901234567\u00e9""#, "12345678901234567é"),
    ])
    func strings(text: String, expected: String) throws {
        let value = try #require(try JSONValue(parsing: text).string)
        #expect(Array(value.utf8) == Array(expected.utf8))
    }

    @Test(arguments: [
        ("[]", "[]"), ("{}", "{}"), ("[[]]", "[[]]"), ("[{}]", "[{}]"), (#"{"":0}"#, #"{"":0}"#),
        (" [ 1 , 2 ] ", "[1,2]"), ("\t{ \"a\" :\n1 }\r\n", #"{"a":1}"#), ("[1,[2,[3]]]", "[1,[2,[3]]]"),
        (#"{"a":{"b":[]}}"#, #"{"a":{"b":[]}}"#), (#"{"a\u0062":1}"#, #"{"ab":1}"#), ("[null,true]", "[null,true]"),
        ("\n\r\t 1\n\r\t ", "1"), (#"[1,"a",{}]"#, #"[1,"a",{}]"#), (#"{"a":1,"A":2}"#, #"{"a":1,"A":2}"#),
    ])
    func containers(text: String, compact: String) throws {
        #expect(try JSONValue(parsing: text).description == compact)
    }

    @Test(arguments: [63, 64, 65, 127, 128, 129, 1023, JSONLimits.depth])
    func `arrays and objects nested as deep as the limit`(depth: Int) throws {
        let arrays = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(try JSONValue(parsing: arrays).description == arrays)
        let half = depth / 2
        let mixed = String(repeating: #"[{"a":"#, count: half) + "1" + String(repeating: "}]", count: half)
        #expect(try JSONValue(parsing: mixed).description == mixed)
    }

    @Test func `integers of as many digits as the limit`() throws {
        let text = String(repeating: "9", count: JSONLimits.integerDigits)
        #expect(try JSONValue(parsing: "-" + text).number?.text == "-" + text)
        #expect(try JSONValue(parsing: "0." + text + text).number?.double == 1)
    }
}
