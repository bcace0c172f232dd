import Settle
import Testing

@testable import SettleImport

struct RecordReaderTests {
    private func read(_ text: String, pieces length: Int = .max, longest: Int = 1000) throws -> [RecordReader.Record] {
        try records(of: text, pieces: length) { source in
            let input = TextInput(source)
            return RecordReader(nil, longest: longest) { try input.read() }
        }
    }

    private func texts(_ records: [RecordReader.Record]) -> [String] {
        records.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(arguments: [
        "{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\n\n  \n{\"b\":2}", "\u{FEFF}{\"a\":1}\n{\"b\":2}\n",
        "[{\"a\":1},{\"b\":2}]", " [\n{\"a\":1},\n{\"b\":2}]\n", "{\"docs\":[{\"a\":1},{\"b\":2}]}",
        "{ \"new_edits\" : false, \"docs\" : [ {\"a\":1}, {\"b\":2} ] }\n",
    ])
    func `every form gives the same texts, however the input is cut`(text: String) throws {
        for length in [1, 2, 3, 7, 1000] {
            let records = texts(try read(text, pieces: length)).map { $0.filter { $0 != " " } }
            #expect(records == ["{\"a\":1}", "{\"b\":2}"])
        }
    }

    @Test func `positions are counted in lines and columns`() throws {
        #expect(try read("{}\n\n{}\n").map(\.line) == [1, 3])
        let elements = try read("[{},\n  {\n}, 5]")
        #expect(elements.map(\.line) == [1, 2, 3])
        #expect(elements.map(\.column) == [2, 3, 4])
    }

    @Test func `brackets and commas inside strings are ignored`() throws {
        let text = #"[{"a":"],}\"["},{"b":"\\"}]"#
        #expect(texts(try read(text)) == [#"{"a":"],}\"["}"#, #"{"b":"\\"}"#])
    }

    @Test func `an unterminated array is reported`() throws {
        let records = try read("[{},")
        #expect(records.map(\.problem) == [nil, "the array is not closed"])
        #expect(texts(try read("[{},{\"a\"")).last == "")
        #expect(try read("{\"docs\":[{},{}]").last?.problem == "the object is not closed")
    }

    @Test(arguments: ["\n", ","])
    func `a text that is too long is skipped`(separator: String) throws {
        let long = "{\"a\":\"" + String(repeating: "x", count: 2000) + "\"}"
        let list = ["{}", long, "{}"].joined(separator: separator)
        let records = try read(separator == "," ? "[\(list)]" : list, pieces: 100)
        #expect(records.map { $0.problem != nil } == [false, true, false])
        #expect(texts(records) == ["{}", "", "{}"])
    }

    @Test(arguments: ["", "\n\n", "[]", "[ ]", "{\"docs\":[]}", "\u{FEFF}"])
    func `an input without documents gives no texts`(text: String) throws {
        #expect(try read(text) == [])
    }

    @Test(arguments: ["offset", "rows"])
    func `a first document that is too long is not read in part`(name: String) throws {
        let long = "\"" + String(repeating: "x", count: 2000) + "\""
        let value = name == "rows" ? "[{\"id\":\(long)}]" : long
        let error = try #require(throws: ForeignFileError.self) {
            try read("{\"\(name)\":\(value)}\n{}", pieces: 100)
        }
        #expect(error.message.contains("longer than"), "\(error)")
    }

    @Test func `a member named like one of an answer may be long`() throws {
        let text = "{\"warning\":\"" + String(repeating: "x", count: 2_000_000) + "\",\"n\":1}"
        #expect(texts(try read(text + "\n{}", longest: 3_000_000)) == [text, "{}"])
    }

    @Test func `a name that does not end is read to its longest length`() throws {
        let cursor = TextCursor(pieces(of: Array("\"aaaaaaaaaaaaaaaaaaaa\"".utf8), 3))
        #expect(try cursor.quoted(atMost: 10).count == 11)
        let escaped = TextCursor(pieces(of: Array(#""a\"b":1"#.utf8), 3))
        #expect(try String(decoding: escaped.quoted(atMost: 10), as: UTF8.self) == #""a\"b""#)
    }

    @Test func `an object that only resembles a list of documents is a line`() throws {
        #expect(texts(try read("{\"docs\":1}\n")) == ["{\"docs\":1}"])
        #expect(texts(try read("{\"new_edits\":1}\n")) == ["{\"new_edits\":1}"])
    }

    @Test func `the revisions of a line of a backup have their columns in it`() throws {
        let text =
            "{\"name\":\"@cloudant/couchbackup\",\"version\":\"2.9\"}\n[{\"_id\":\"a\"}, {\"_id\":\"b\"}]\n"
        let all = try records(of: RecordReader(nil, pieces(of: Array(text.utf8), 5)))
        #expect(all.map(\.line) == [2, 2] && all.map(\.column) == [2, 15])
    }
}
