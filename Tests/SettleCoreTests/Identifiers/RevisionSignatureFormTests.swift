import SettleCore
import SettleTesting
import Testing

@Suite struct RevisionSignatureFormTests {
    // SEMANTICS 65
    @Test func `the case of 32 hex digits is ignored`() throws {
        let upper = try RevisionID(validating: "1-ABCDEF0123456789ABCDEF0123456789")
        let mixed = try RevisionID(validating: "1-aBcDeF0123456789AbCdEf0123456789")
        #expect(upper == mixed)
        #expect(upper.hashValue == mixed.hashValue)
        #expect(upper.description == "1-abcdef0123456789abcdef0123456789")
    }

    // SEMANTICS 65
    @Test func `the case of signatures of any other length counts`() {
        #expect(("1-A" as RevisionID) != "1-a")
        let forty = String(repeating: "Ab", count: 20)
        #expect(RevisionSignature(forty)?.description == forty)
        #expect(RevisionSignature(forty) != RevisionSignature(forty.lowercased()))
    }

    // SEMANTICS 64
    @Test func `32 digits are kept as sixteen bytes`() throws {
        let signature = try #require(RevisionSignature("000102030405060708090a0b0c0d0eff"))
        #expect(signature.rawBytes == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255])
        #expect(signature == RevisionSignature(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0EFF))
    }

    // SEMANTICS 64
    @Test func `a text of sixteen bytes is the digest with those bytes`() throws {
        let text = try #require(RevisionSignature("0123456789abcdef"))
        let digest = try #require(RevisionSignature("30313233343536373839616263646566"))
        #expect(text == digest)
        #expect(text.hashValue == digest.hashValue)
        #expect(text.rawBytes == Array("0123456789abcdef".utf8))
        #expect(text.description == "30313233343536373839616263646566")
        #expect(RevisionSignature("\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}a")?.description.utf8.count == 32)
    }

    @Test(arguments: 0...40)
    func `a text of any length but 16 and 32 is kept as it is`(length: Int) {
        let text = String(repeating: "z", count: length)
        guard length != 32 else {
            #expect(RevisionSignature(text) == nil)
            return
        }
        let signature = RevisionSignature(text)
        #expect(signature?.rawBytes == Array(text.utf8))
        #expect(signature?.description == (length == 16 ? String(repeating: "7a", count: 16) : text))
    }

    @Test(arguments: [0, 1, 15, 16, 17, 30, 31])
    func `32 bytes that are not all hex digits are refused`(position: Int) {
        for odd in ["g", "G", "/", ":", "@", "`", "-", "+", " ", "\u{0}", "x"] {
            var bytes = [String](repeating: "a", count: 32)
            bytes[position] = odd
            #expect(RevisionSignature(bytes.joined()) == nil, "\(bytes.joined())")
            #expect(RevisionID("1-" + bytes.joined()) == nil)
        }
        #expect(RevisionSignature(String(repeating: "é", count: 16)) == nil)
    }

    @Test func `every signature of 16 bytes is parsed from its text`() {
        var random = SeededRandom(seed: 32)
        for _ in 0..<500 {
            let signature = RevisionSignature(high: random.next(), low: random.next())
            #expect(RevisionSignature(signature.description) == signature)
            #expect(signature.rawBytes.count == 16)
        }
    }

    @Test func `canonically equivalent texts are different signatures`() {
        #expect(RevisionSignature("\u{E9}") != RevisionSignature("e\u{301}"))
    }
}
