import Testing

@testable import SettleCore

@Suite struct DocumentIDValidationTests {
    @Test(arguments: [
        "a", " ", "groceries/milk", "émile", "🐟", "a_b", "-", "\u{0}", "_design/views", "_local/checkpoint",
        "_design/_local/", "_design//", "a/../b", "%5Fx",
    ])
    func `ordinary, design and local ids are kept as they are`(text: String) throws {
        let id = try DocumentID(validating: text)
        #expect(Array(id.string.utf8) == Array(text.utf8))
        #expect(id.description == text)
    }

    @Test func `an empty id is refused`() {
        #expect(throws: InvalidIdentifier(text: "", problem: "a document id must not be empty")) {
            try DocumentID(validating: "")
        }
    }

    @Test(arguments: ["_", "_x", "__", "_designs/a", "_Design/a", "_locals", "_design", "_local", "_all_docs"])
    func `a leading underscore is reserved`(text: String) {
        #expect {
            try DocumentID(validating: text)
        } throws: { error in
            (error as? InvalidIdentifier)?.problem == "only _design/… and _local/… may start with an underscore"
        }
    }

    @Test(arguments: ["_design/", "_local/"])
    func `a reserved prefix needs a name after it`(text: String) {
        #expect(throws: InvalidIdentifier(text: text, problem: "nothing follows the prefix")) {
            try DocumentID(validating: text)
        }
    }

    @Test func `an error quotes at most the beginning of a long id`() {
        #expect {
            try DocumentID(validating: "_" + String(repeating: "x", count: 100_000))
        } throws: { error in
            "\(error)".hasPrefix("\"_xxx") && "\(error)".utf8.count < 300
        }
    }

    // SEMANTICS 203
    @Test func `design and local documents are recognised by their prefix`() {
        #expect(DocumentID("_design/a").isDesign)
        #expect(!DocumentID("_design/a").isLocal)
        #expect(DocumentID("_local/a").isLocal)
        #expect(!DocumentID("_local/a").isDesign)
        #expect(!DocumentID("design/a").isDesign)
        #expect(!DocumentID("x_local/a").isLocal)
    }

    @Test func `a combining mark after the slash does not hide the prefix`() throws {
        #expect(try DocumentID(validating: "_design/\u{338}").isDesign)
        #expect(try DocumentID(validating: "_local/\u{301}").isLocal)
    }

    @Test func `a literal makes the same id as its text`() throws {
        #expect(try DocumentID(validating: "milk") == "milk")
    }
}
