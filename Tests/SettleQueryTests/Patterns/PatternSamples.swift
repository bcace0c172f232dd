import SettleTesting

/// Random patterns of Perl's language, and texts that they may occur in.
struct PatternSamples {
    private var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    private static let items = [
        "a", "b", "c", "A", "B", "é", "\n", "1", " ", "_", ".", ".", "^", "$", #"\d"#, #"\D"#, #"\w"#, #"\W"#, #"\s"#,
        #"\S"#,
        #"\h"#, #"\H"#, #"\v"#, #"\V"#, #"\N"#, #"\R"#, #"\b"#, #"\B"#, #"\A"#, #"\z"#, #"\Z"#, "[ab]", "[^a]", "[a-c]",
        "[A-z]",
        "[[:alpha:]]", "[[:^alpha:]b]", "[[:punct:]]", "[[:upper:]]", #"[^\n]"#, "[é]", "[^é]", #"[\W]"#, #"[\d_-]"#,
        "[]a]", "[^]a]",
        "[a-]", "[-a]", #"[\x41-\x5a]"#, "(?i)", "(?m)", "(?s)", "(?-i)", "(?im)", "(?m-s)", #"\1"#, #"\1"#, #"\2"#,
        #"\11"#, #"\K"#,
        "(?|a|b)", "(?R)", "(?1)", #"\Qa.\E"#, #"\x41"#, #"\x{c3}"#, #"\x"#, #"\012"#, #"\0"#, "{", "}", "]", "-",
        "{,3}", "(?#x)", #"\."#,
        #"\-"#, #"\é"#, #"\o{101}"#, "(?P<n>a)", "(?<n>a)", #"\G"#, "[a-c-e]", "[[.a.]]", "[[:foo:]]", "[a[b]",
        "[a&&b]",
    ]
    private static let quantifiers = [
        "*", "+", "?", "{2}", "{1,3}", "{2,}", "{,2}", "{0,1}", "*?", "+?", "??", "*+", "++", "?+", "{1,2}?", "{1,2}+",
        "{0}", "{1", "**",
    ]
    private static let groups = [
        "(", "(", "(", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?s:", "(?m:", "(?-i:",
    ]
    private static let letters = [
        "a", "a", "a", "b", "b", "c", "A", "B", "é", "É", "\n", "1", " ", "_", "-", "\t", "\u{B}", "\r", "\u{A0}", ".",
    ]

    private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func pattern(_ depth: Int = 0) -> String {
        var text = ""
        for _ in 0...below(4) {
            if depth < 3, below(3) == 0 {
                text += Self.groups[below(Self.groups.count)] + pattern(depth + 1) + ")"
            } else {
                text += Self.items[below(Self.items.count)]
            }
            if below(3) == 0 { text += Self.quantifiers[below(Self.quantifiers.count)] }
            if below(8) == 0 { text += "|" }
        }
        return text
    }

    mutating func text() -> String { (0..<below(9)).map { _ in Self.letters[below(Self.letters.count)] }.joined() }
}
