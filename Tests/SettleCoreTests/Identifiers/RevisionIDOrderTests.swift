import SettleCore
import Testing

@Suite struct RevisionIDOrderTests {
    // SEMANTICS 9, 63
    @Test func `generations are compared as numbers`() {
        #expect(("10-a" as RevisionID) > "9-f")
        #expect(("2-0" as RevisionID) > "1-ffffffffffffffffffffffffffffffff")
        #expect(("9223372036854775807-" as RevisionID) > "9223372036854775806-z")
    }

    // SEMANTICS 63
    @Test func `within a generation the higher signature wins`() {
        #expect(("3-c" as RevisionID) > "3-9")
        #expect(
            ("3-00000000000000010000000000000000" as RevisionID) > "3-0000000000000000ffffffffffffffff")
    }

    // SEMANTICS 64; each list holds suffixes whose raw bytes ascend
    @Test(arguments: [
        ["", "\u{0}", "9", "a", "a\u{0}", "aa", "b", "ba", "é", "🐟"],
        ["A", "a", "z"],
        [
            "00000000000000000000000000000000", "30313233343536373839303132333435",
            "0123456789012345678901234567890123456789", "31000000000000000000000000000000",
            "67000000000000000000000000000000",
            "h", "ffffffffffffffffffffffffffffffff",
        ],
        ["g", "ff000000000000000000000000000000"],
        ["61616161616161616161616161616161", "aaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaab", "aaaaaaaaaaaaaab"],
        ["aaaaaaaaaaaaaaa", "61616161616161616161616161616161"],
        ["fffffffffffffffffffffffffffffffffffffff", "ffffffffffffffffffffffffffffffffffffffff", "80" + zeros],
    ])
    func `signatures are compared as raw bytes, sixteen for 32 digits, else the text`(suffixes: [String]) {
        let ordered = suffixes.compactMap { RevisionSignature($0) }
        #expect(ordered.count == suffixes.count)
        for (low, first) in ordered.enumerated() {
            for (high, second) in ordered.enumerated() {
                #expect((first < second) == (low < high), "\(first) and \(second)")
                #expect((first == second) == (low == high), "\(first) and \(second)")
                #expect(
                    first.rawBytes.lexicographicallyPrecedes(second.rawBytes) == (low < high), "\(first), \(second)")
            }
        }
    }

    // SEMANTICS 64: where comparing the printed ids would say otherwise
    @Test func `a digest that begins with ff beats the text g`() {
        #expect(("1-ffffffffffffffffffffffffffffffff" as RevisionID) > "1-g")
        #expect(("1-f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0" as RevisionID) > "1-fffffffffffffffffffffffffffffffffffffffff")
        #expect(("1-60000000000000000000000000000000" as RevisionID) < "1-a")
    }
}

/// Fifteen zero bytes in hex.
private let zeros = String(repeating: "00", count: 15)
