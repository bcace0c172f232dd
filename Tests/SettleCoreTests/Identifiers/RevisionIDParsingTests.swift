import SettleCore
import Testing

@Suite struct RevisionIDParsingTests {
    @Test(arguments: [
        "1-967a00dff5e02add41819138abb3284d", "2-a", "3-", "4-a-b", "5--", "6-é", "7-\u{0}", "8- ",
        "9-0123456789012345678901234567890123456789", "9223372036854775807-a", "10-967A00DFF5E02ADD41819138ABB3284",
        "9-967a00dff5e02add41819138abb3284d", "10-967a00dff5e02add41819138abb3284d",
        "99-967a00dff5e02add41819138abb3284d",
        "1000000000000000000-967a00dff5e02add41819138abb3284d", "9223372036854775807-967a00dff5e02add41819138abb3284d",
    ])
    func `parsed ids print as the text they came from`(text: String) throws {
        #expect(try RevisionID(validating: text).description == text)
    }

    @Test func `an id is split at its first dash`() throws {
        let revision = try RevisionID(validating: "12-a-b")
        #expect(revision.generation == 12)
        #expect(revision.signature == RevisionSignature("a-b"))
    }

    @Test(arguments: ["1-a", "01-a", "0001-a", "00000000000000000000000000000000001-a"])
    func `leading zeros of a generation are ignored`(text: String) {
        #expect(RevisionID(text) == "1-a")
    }

    @Test(arguments: [
        "", "-", "a", "1", "12", "-a", "--a", "a-1", "1a-b", "+1-a", " 1-a", "1 -a", "1.0-a", "1e3-a", "٣-a", "0-a",
        "00-a", "-1-a", "1–a", "1\u{301}-a",
    ])
    func `text without a positive generation and a dash is refused`(text: String) {
        #expect(RevisionID(text) == nil)
        #expect {
            try RevisionID(validating: text)
        } throws: { error in
            (error as? InvalidIdentifier)?.text == text
        }
    }

    @Test(arguments: [
        "9223372036854775808-a", "18446744073709551615-a", "18446744073709551616-a", "18446744073709551617-a",
        "18446744073709551627-a", "36893488147419103242-a",
        "184467440737095516150-a", "99999999999999999999999999999999-a",
    ])
    func `a generation over 63 bits is refused, not wrapped`(text: String) {
        #expect(RevisionID(text) == nil)
    }

    @Test func `a dash with a combining mark is still a dash`() throws {
        #expect(try RevisionID(validating: "1-\u{301}").signature == RevisionSignature("\u{301}"))
    }

    @Test func `a slice is parsed like a string of its own`() {
        #expect(RevisionID("\"2-b\"".dropFirst().dropLast()) == "2-b")
    }

    @Test func `an id can be made of a generation from 1 to 63 bits only`() {
        let signature = RevisionSignature(high: 1, low: 2)
        #expect(RevisionID(generation: 0, signature: signature) == nil)
        #expect(RevisionID(generation: 1, signature: signature)?.generation == 1)
        #expect(RevisionID(generation: RevisionID.maximumGeneration, signature: signature) != nil)
        #expect(RevisionID(generation: RevisionID.maximumGeneration + 1, signature: signature) == nil)
        #expect(RevisionID(generation: .max, signature: signature) == nil)
    }
}
