import Testing

@testable import SettleCore

@Suite struct JSONStructureTests {
    private let text = Array(#"{"a\\":"x]\"{,","long, long string": [1,{}] ,"é":"\u005d"}"#.utf8)

    /// What is found, with the depth after it; the text arrives in pieces.
    private func marks(_ pieces: [ArraySlice<UInt8>]) -> [String] {
        var structure = JSONStructure()
        var marks: [String] = []
        for piece in pieces {
            var offset = 0
            Array(piece).withUnsafeBufferPointer { piece in
                while let mark = structure.next(in: piece, from: &offset) {
                    marks.append(String(decoding: [mark], as: UTF8.self) + String(structure.depth))
                }
                #expect(offset == piece.count)
            }
        }
        return marks
    }

    @Test func `brackets in strings are ignored, wherever the text is cut into pieces`() {
        let expected = ["{1", ":1", ",1", ":1", "[2", ",2", "{3", "}2", "]1", ",1", ":1", "}0"]
        #expect(marks([text[...]]) == expected)
        for first in text.indices {
            #expect(marks([text[..<first], text[first...]]) == expected, "parted at \(first)")
        }
        #expect(marks(text.indices.map { text[$0...$0] }) == expected)
    }

    @Test func `brackets that don't match are counted, and nothing is read past the end`() {
        #expect(marks([Array("]}[".utf8)[...]]) == ["]-1", "}-2", "[-1"])
        #expect(marks([Array(#""open \"#.utf8)[...]]).isEmpty)
        #expect(marks([[]]).isEmpty)
    }
}
