import Settle
import Testing

@testable import SettleImport

struct CSVTests {
    private func read(_ text: String, pieces length: Int = .max, types: Bool = true) throws -> [RecordReader.Record] {
        try records(
            of: CSVReader(takesTypes: types) {
                let input = TextInput(pieces(of: Array(text.utf8), length))
                return { try input.read() }
            })
    }

    private func texts(_ records: [RecordReader.Record]) -> [String] {
        records.map { $0.problem ?? String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(arguments: [1, 2, 3, 1000])
    func `rows become documents, however the input is cut`(length: Int) throws {
        let text = "\u{FEFF}_id,name,note\r\n1,\"O\"\"Neil, Ann\",\"two\nlines\"\r\n\r\n2,Bob,\r\n3,\"\",é"
        let records = try read(text, pieces: length)
        #expect(
            texts(records) == [
                #"{"_id":"1","name":"O\"Neil, Ann","note":"two\nlines"}"#, #"{"_id":"2","name":"Bob"}"#,
                #"{"_id":"3","name":"","note":"é"}"#,
            ])
        #expect(records.map(\.line) == [2, 5, 6])
    }

    @Test func `numbers, booleans and JSON are recognized, unless all cells are texts`() throws {
        let text = "a,b,c,d,e,f\n1.50,TRUE,007,\"[1,2]\",12345678901234567890,-3e2\n"
        #expect(
            texts(try read(text)) == [
                #"{"a":1.50,"b":true,"c":"007","d":[1,2],"e":"12345678901234567890","f":-3e2}"#
            ])
        #expect(texts(try read(text, types: false))[0].hasPrefix(#"{"a":"1.50","b":"TRUE","c":"007","d":"[1,2]""#))
    }

    @Test func `a dot in a column leads into an object`() throws {
        #expect(
            texts(try read("a.b,a.c,x\\.y\n1,2,3\n,,4\n")) == [#"{"a":{"b":1,"c":2},"x.y":3}"#, #"{"x.y":4}"#])
        #expect(try read("a,a.b\n1,2\n")[0].problem?.contains("a.b") == true)
    }

    @Test func `a malformed row is reported with its line, and the others are read`() throws {
        let records = try read("a,b\n1\n2,x\"y\n\"3\"4,5\n6,7\n8,\"9\n")
        #expect(records.map(\.line) == [2, 3, 4, 5, 6])
        #expect(records[0].problem == "1 cell, but the header names 2 columns")
        #expect(records[1].problem?.contains("quote stands within cell 2") == true)
        #expect(records[2].problem?.contains("text follows the closing quote of cell 1") == true)
        #expect(texts(records)[3] == #"{"a":6,"b":7}"#)
        #expect(records[4].problem == "the quote of cell 2 is not closed")
    }

    @Test(arguments: [("a,a\n1,2\n", "two columns are named \"a\""), ("a,\n1,2\n", "a column has no name")])
    func `a header that can't name members is refused`(text: String, complaint: String) throws {
        let error = try #require(throws: ForeignFileError.self) { try read(text) }
        #expect(error.message.hasPrefix("line 1: \(complaint)") && error.code == .unknown)
    }

    @Test func `an empty input has no documents`() throws {
        #expect(try read("").isEmpty && read("a,b\n").isEmpty)
    }

    @Test(arguments: [
        "_id,zip\n1,00501\n2,10001\n3,TRUE\n", "_id;zip\n1;00501\n2;10001\n3;TRUE\n",
        "_id\tzip\r1\t00501\r2\t10001\r3\tTRUE",
        "sep=;\r\n_id;zip\r\n1;00501\r\n2;10001\r\n3;TRUE\r\n",
    ])
    func `a column has one type, whatever separates its cells and lines`(text: String) throws {
        for length in [1, 2, 7, 1000] {
            #expect(
                texts(try read(text, pieces: length)) == [
                    #"{"_id":"1","zip":"00501"}"#, #"{"_id":"2","zip":"10001"}"#, #"{"_id":"3","zip":"TRUE"}"#,
                ])
        }
    }

    @Test func `a separator in quotes does not count, and other separators are text`() throws {
        #expect(texts(try read("\"a;b;c\",d\n1;2,3\n")) == [#"{"a;b;c":"1;2","d":3}"#])
    }

    @Test func `numbers stay texts in a column with another text`() throws {
        #expect(texts(try read("code\n1\n0E0\nx\n")) == [#"{"code":"1"}"#, #"{"code":"0E0"}"#, #"{"code":"x"}"#])
        #expect(texts(try read("n\n1\n\"\"\n2.5\n")) == [#"{"n":1}"#, "{}", #"{"n":2.5}"#])
    }

    @Test func `a text that is not UTF-8 is refused with the encoding that reads it`() throws {
        let bytes = Array("_id,name\n1,M".utf8) + [0xFC] + Array("ller\n".utf8)
        let error = try #require(throws: ForeignFileError.self) {
            try records(of: CSVReader(takesTypes: true) { pieces(of: bytes, 3) })
        }
        #expect(error.message.contains("line 2 is not UTF-8") && error.message.contains("the encoding windows-1252"))
        #expect(!error.message.contains("--"))
        let reader = CSVReader(takesTypes: true) {
            let input = TextInput(encoding: .windows1252, pieces(of: bytes, 3))
            return { try input.read() }
        }
        #expect(texts(try records(of: reader)) == [#"{"_id":"1","name":"Müller"}"#])
    }
}
