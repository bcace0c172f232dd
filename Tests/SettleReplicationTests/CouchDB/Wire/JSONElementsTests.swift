import SettleCore
import Testing

@testable import SettleReplication

/// Responses that are parsed as they arrive.
struct JSONElementsTests {
    private let text = Array(
        #" {"total" : 2 , "more":{"results":[1]},"x\"results":[3], "results" : [ {"a":"}]\"{"} , {"b":[1,{}]}  ], "last":"9-\\" } "#
            .utf8)

    private func read(
        _ pieces: [ArraySlice<UInt8>], longest: Int = 100
    ) throws -> (elements: [String], frame: JSONObject) {
        var reader = JSONElements(of: "results", longestElement: longest)
        var elements: [String] = []
        for piece in pieces {
            _ = try reader.parse(Array(piece)) { element in
                switch element {
                case .bytes(let bytes): elements.append(String(decoding: bytes, as: UTF8.self))
                case .overlong: elements.append("overlong")
                }
                return true
            }
        }
        return (elements, try reader.finish())
    }

    @Test func `elements and frame are the same, however the text is cut into pieces`() throws {
        let whole = try read([text[...]])
        #expect(whole.elements == [#"{"a":"}]\"{"}"#, #"{"b":[1,{}]}"#])
        #expect(whole.frame["total"] == 2 && whole.frame["last"] == #"9-\"# && whole.frame["results"] == [])
        for first in text.indices {
            let parted = try read([text[..<first], text[first...]])
            #expect(parted.elements == whole.elements && parted.frame == whole.frame, "parted at \(first)")
        }
        let single = try read(text.indices.map { text[$0...$0] })
        #expect(single.elements == whole.elements && single.frame == whole.frame)
    }

    @Test func `a text cut off anywhere is refused`() throws {
        let end = text.count - 2
        for count in 0..<end {
            #expect(throws: (any Error).self, "cut at \(count)") { try read([text[..<count]]) }
        }
        _ = try read([text[...end]])
    }

    @Test func `an element that is too long is skipped, in one piece or in many`() throws {
        let expected = ["overlong", #"{"b":[1,{}]}"#]
        #expect(try read([text[...]], longest: 12).elements == expected)
        #expect(try read(text.indices.map { text[$0...$0] }, longest: 12).elements == expected)
    }

    @Test func `reading ends when the consumer stops`() throws {
        var reader = JSONElements(of: "results", longestElement: 100)
        var count = 0
        let goesOn = try reader.parse(text) { _ in
            count += 1
            return false
        }
        #expect(!goesOn && count == 1)
    }

    @Test(arguments: [
        #"{"results":[{},,{}]}"#, #"{"results":[{} {}]}"#, #"{"results":[,{}]}"#, #"{"results":[{},]}"#,
        #"{"results":[1]}"#, #"{"results":["a"]}"#, #"{"results":{}}"#, "[]", "null", "<html>", "",
        #"{"results":[{}]},"#, #"{"results":[{}]}{"#, #"{"error":"x","reason":"y"}"#,
    ])
    func `a text that is not an object with a list of objects is refused`(_ text: String) {
        #expect(throws: (any Error).self) { try read([Array(text.utf8)[...]]) }
    }

    @Test func `an empty list is accepted`() throws {
        let read = try read([Array(#"{"results":[ ],"last_seq":0}"#.utf8)[...]])
        #expect(read.elements.isEmpty && read.frame["last_seq"] == 0)
    }
}
