import Testing

@testable import SettleCore

/// The bounds of the reader's memory: texts that take the most room for their length.
@Suite struct DocumentReaderTests {
    private static let depth = JSONLimits.depth

    @Test(arguments: [1, 2, 3, 100, depth - 1, depth])
    func `nested objects are read at every depth`(levels: Int) throws {
        let text = String(repeating: #"{"":"#, count: levels) + "0" + String(repeating: "}", count: levels)
        let body = try DocumentBody(parsing: text)
        #expect(body.description == text)
        #expect(try JSONValue(parsing: text).description == text)
        // The same memory has to suffice for the text truncated at each byte.
        for count in stride(from: 1, to: text.utf8.count, by: max(1, levels / 50)) {
            #expect(throws: JSONError.self) { try DocumentBody(utf8: Array(text.utf8.prefix(count))) }
        }
    }

    @Test(arguments: [#"[1e9]"#, #"{"":[]}"#, "[]", "{}", "1e9", #""""#, "256", "null", #"{"":1e9,"a":{}}"#])
    func `a term never exceeds the capacity computed for it`(element: String) throws {
        for count in [1, 2, 50, 3000] {
            let list = Array(repeating: element, count: count).joined(separator: ",")
            let text = #"{"":["# + list + "]}"
            let body = try DocumentBody(parsing: text)
            #expect(body.description == text)
            #expect(body.term.count <= text.utf8.count * ExternalTerm.expansion + 64)
            let nested = String(repeating: "[", count: 1000) + list + String(repeating: "]", count: 1000)
            #expect(try DocumentBody(parsing: #"{"a":"# + nested + "}").description == #"{"a":"# + nested + "}")
        }
    }

    @Test func `among many duplicate members the last of each is kept`() throws {
        let names = (0..<5000).map { $0 % 3000 }
        let text = "{" + names.enumerated().map { "\"n\($0.element)\":\($0.offset)" }.joined(separator: ",") + "}"
        let body = try DocumentBody(parsing: text)
        let members = try #require(body.json.object)
        #expect(members.count == 3000)
        #expect(members["n0"] == 3000)
        #expect(members["n2999"] == 2999)
        #expect(try DocumentBody(parsing: body.description) == body)
    }
}

extension DocumentReaderTests {
    /// Two names of sixteen bytes with the same fingerprint, found by search.
    private func collidingNames() -> (String, String)? {
        func word(_ text: String) -> UInt64 { text.utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        func text(_ word: UInt64) -> String? {
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
            let isPlain = bytes.allSatisfy { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            return isPlain ? String(decoding: bytes, as: UTF8.self) : nil
        }
        let start = UInt64(16) &* 0x9E37_79B9_7F4A_7C15
        let (first, second) = ("abcdefgh", "ijklmnop")
        for number in 0..<1_000_000 {
            let other = String(10_000_000 + number)
            let wanted =
                word(second) ^ MemberNames.mixed(start ^ word(first)) ^ MemberNames.mixed(start ^ word(other))
            if let end = text(wanted) { return (first + second, other + end) }
        }
        return nil
    }

    @Test func `names that share only a fingerprint are different names`() throws {
        let (one, two) = try #require(collidingNames())
        let memory = UnsafeMutablePointer<UInt64>.allocate(capacity: 3)
        defer { memory.deallocate() }
        var names = MemberNames(memory, capacity: 3)
        for name in [one, two] {
            let bytes = Array(name.utf8) + [UInt8](repeating: 0, count: 8)
            bytes.withUnsafeBufferPointer { names.add($0.baseAddress ?? StaticString("").utf8Start, count: 16, in: 0) }
        }
        #expect(names.hasDuplicates)
        let text = "{\"\(one)\":1,\"\(two)\":2}"
        #expect(try DocumentBody(parsing: text).description == text)
        #expect(try DocumentBody(parsing: "{\"\(one)\":1,\"\(two)\":2,\"\(one)\":3}").json.object?.count == 2)
    }
}
