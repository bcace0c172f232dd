import Testing

@testable import SettleCore

/// Small values take many times the memory of their text, so values are counted when a client's text is parsed.
@Suite struct JSONValueLimitTests {
    @Test(arguments: ["[1,2,3]", #"{"a":1,"b":[]}"#, "[[[]]]", #"["x",null]"#, "7"])
    func `a text with as many values as the limit is read, and one with more is refused`(text: String) throws {
        let bytes = Array(text.utf8)
        let value = try JSONValue(utf8: bytes)
        let count = Self.count(value)
        #expect(try JSONValue(utf8: bytes, atMost: count) == value)
        let error = #expect(throws: JSONError.self) { try JSONValue(utf8: bytes, atMost: count - 1) }
        #expect(error?.code == .tooManyValues)
    }

    @Test func `an outline counts the wanted elements, and the members`() throws {
        let text = Array(#"{"docs":[{},{},{}],"other":[1,2,3,4,5,6,7,8]}"#.utf8)
        #expect(try JSONOutline(text, elementsOf: "docs", atMost: 3).elements?.count == 3)
        let error = #expect(throws: JSONError.self) { try JSONOutline(text, elementsOf: "docs", atMost: 2) }
        #expect(error?.code == .tooManyValues)
        let members = "{" + (0..<5).map { "\"\($0)\":0" }.joined(separator: ",") + "}"
        #expect(throws: JSONError.self) { try JSONOutline(Array(members.utf8), atMost: 4) }
        #expect(try JSONOutline(Array(members.utf8), atMost: 5).members.count == 5)
    }

    @Test func `reading ends at the limit, and not at the end of the text`() {
        let text = Array("{\"docs\":[1,2,3,".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 100)
        let error = #expect(throws: JSONError.self) { try JSONOutline(text, elementsOf: "docs", atMost: 2) }
        #expect(error?.code == .tooManyValues)
    }

    private static func count(_ value: JSONValue) -> Int {
        switch value {
        case .array(let elements): elements.reduce(1) { $0 + count($1) }
        case .object(let members): members.reduce(1) { $0 + count($1.value) }
        default: 1
        }
    }
}
