import Testing

@testable import RevisionTree

/// The bounds of the reader's memory: texts that take the most room for their length.
@Suite struct DocumentReaderTests {
    private static let depth = JSONLimits.depth

    @Test(arguments: [1, 2, 3, 100, depth - 1, depth])
    func `objects inside of objects are read at every depth`(levels: Int) throws {
        let text = String(repeating: #"{"":"#, count: levels) + "0" + String(repeating: "}", count: levels)
        let body = try DocumentBody(parsing: text)
        #expect(body.description == text)
        #expect(try JSON(parsing: text).description == text)
        // Cut short at each byte, the same memory has to do.
        for count in stride(from: 1, to: text.utf8.count, by: max(1, levels / 50)) {
            #expect(throws: JSONError.self) { try DocumentBody(utf8: Array(text.utf8.prefix(count))) }
        }
    }

    @Test(arguments: [#"[1e9]"#, #"{"":[]}"#, "[]", "{}", "1e9", #""""#, "256", "null", #"{"":1e9,"a":{}}"#])
    func `a term never outgrows its room`(element: String) throws {
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

    @Test func `many members, many of them twice, keep the last of each`() throws {
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
