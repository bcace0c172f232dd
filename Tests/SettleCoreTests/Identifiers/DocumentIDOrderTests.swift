import SettleCore
import Testing

/// COUCHDB-FACTS 22: ids are ordered by bytes.
@Suite struct DocumentIDOrderTests {
    @Test func `ids are ordered by their bytes`() {
        let ordered: [DocumentID] = [
            "\u{0}", " ", "10", "2", "A", "B", "_design/a", "_local/a", "a", "a\u{0}", "a ", "aa", "b", "\u{7F}", "é",
            "€", "\u{FFFD}", "🐟",
        ]
        for (low, first) in ordered.enumerated() {
            for (high, second) in ordered.enumerated() {
                #expect((first < second) == (low < high), "\(first) and \(second)")
                #expect((first == second) == (low == high), "\(first) and \(second)")
            }
        }
    }

    @Test func `characters outside the basic plane come after all others, unlike in UTF-16`() {
        #expect(DocumentID("\u{FF5E}") < DocumentID("\u{1F41F}"))
    }

    @Test func `canonically equivalent spellings are different ids`() {
        let composed: DocumentID = "\u{E9}"
        let decomposed: DocumentID = "e\u{301}"
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed)
        #expect(decomposed < composed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test func `equal ids hash alike, however their strings are stored`() {
        let text = "a rather long document id which does not fit into a small string"
        let native = DocumentID(stringLiteral: text)
        let sliced = DocumentID(stringLiteral: String("[\(text)]".dropFirst().dropLast()))
        #expect(native == sliced)
        #expect(native.hashValue == sliced.hashValue)
        #expect(Set([native, sliced]).count == 1)
    }
}
