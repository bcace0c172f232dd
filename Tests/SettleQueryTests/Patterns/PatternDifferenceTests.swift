import Testing

@testable import SettleQuery

#if canImport(CPCRE2)
/// Patterns on Foundation: what is accepted gives PCRE2's answers.
@Suite(.timeLimit(.minutes(5))) struct PatternDifferenceTests {
    @Test(arguments: 1...8) func `every accepted pattern gives the answers of PCRE2`(seed: Int) throws {
        let number = UInt64(seed) &+ (seed > 4 ? .random(in: 0 ... .max / 2) : 0)
        var samples = PatternSamples(seed: number)
        var compared = 0
        for _ in 0..<4000 {
            let pattern = samples.pattern()
            guard let found = try? FoundationPattern(pattern) else { continue }
            guard let expected = try? PCREPattern(pattern) else {
                Issue.record("PCRE2 refuses \(pattern.debugDescription), seed \(number)")
                continue
            }
            for _ in 0..<8 {
                let text = samples.text()
                let comment = "\(pattern.debugDescription) in \(Array(text.utf8)), seed \(number)"
                guard let one = found.answer(in: text), let other = expected.answer(in: text) else { continue }
                compared += 1
                #expect(one == other, "\(comment)")
            }
        }
        // Samples of which almost none is accepted would prove nothing. A random seed has been seen with 999 patterns.
        #expect(compared > 4000, "seed \(number)")
    }

    // The engines count steps differently, so one may find what the other gave up to search for.
    @Test func `a search that takes too many steps has no answer to compare`() throws {
        let text = String(repeating: "a", count: 40) + "!"
        #expect(try FoundationPattern("^(a+)+$|").answer(in: text) == nil)
        #expect(try PCREPattern("^(a+)+$|").answer(in: text) == nil)
        #expect(try FoundationPattern("^(a+)+!|").answer(in: text) == true)
        #expect(try PCREPattern("^(a+)+!|").answer(in: text) == true)
    }

    @Test(arguments: ["(?=B)[ab]?+B", "(?=B)x*B", "(?=B)c{0,2}B"])
    func `a character that a lookahead and the rest want is found in one place`(pattern: String) throws {
        #expect(try PCREPattern(pattern).occurs(in: "xbBCa1b") && FoundationPattern(pattern).occurs(in: "xbBCa1b"))
    }

    @Test(arguments: [#"[^\s]+\h"#, #"\h+[^\s]"#, #"[^\s]+?\v"#], ["\u{A0}é._é", "\u{3820}", "Å", "à", "x y", "x\ny"])
    func `a byte of a character may be a space`(pattern: String, text: String) throws {
        #expect(try FoundationPattern(pattern).occurs(in: text) == PCREPattern(pattern).occurs(in: text))
    }

    @Test(arguments: [
        ("foo.*bar", "foo" + String(repeating: "x", count: 300_000) + "bar"),
        ("b[a-z]r$", String(repeating: "x", count: 300_000) + "bar"),
        ("^(?:ab|cd)+$", String(repeating: "abcd", count: 2000)),
        ("é{2}", String(repeating: "e", count: 100_000) + "éé"),
    ])
    func `a long text gives the answer of PCRE2`(pattern: String, text: String) throws {
        #expect(try FoundationPattern(pattern).occurs(in: text) == PCREPattern(pattern).occurs(in: text))
    }
}

extension PCREPattern {
    func occurs(in text: String) -> Bool { occurs(in: text, SelectorWork(SelectorWork.document)) }

    func answer(in text: String) -> Bool? { SelectorWork.answer { occurs(in: text, $0) } }
}

extension SelectorWork {
    /// The result of a search, or nil after so many steps that it may have been given up.
    fileprivate static func answer(_ search: (SelectorWork) -> Bool) -> Bool? {
        let work = SelectorWork(document)
        let result = search(work)
        return document - work.available < 100_000 ? result : nil
    }
}
#endif

/// What patterns on Foundation refuse, and what they do with too much work.
struct FoundationPatternTests {
    @Test(arguments: [
        "(?R)", "(?1)", "(?(1)a|b)", "(?|a|b)", "(?P<n>a)", "(?<n>a)", "(?'n'a)", "a{,3}", "(?<=a+)b",
        "(?<=ab|c(?:d|ef))b", #"\K"#,
        #"\o{101}"#, #"\11"#, #"(a)\10"#, #"\p{Lu}"#, #"\X"#, #"\Qa\E"#, #"\G"#, "(?:a?)*?", "(?:a|b?)+", "(*F)",
        "(?x)a", "^*", "a**",
        "(?U)a", #"([^z]*)\1"#, #"(a\1)"#, #"\1(a)"#, "[[:foo:]]", "[[.a.]]", "a{5000}", #"\cA"#, #"\u0041"#,
        #"\N{U+41}"#, "[a-c-e]", #"\S+?\h"#, #"\h*(\S)"#, #"\S+\v"#,
    ])
    func `what may differ is refused by name`(pattern: String) {
        let error = #expect(throws: PatternRefusal.self) { try FoundationPattern(pattern) }
        guard case .unsupported(let construct) = error else {
            Issue.record("\(pattern) is \(String(describing: error))")
            return
        }
        #expect(!construct.isEmpty)
    }

    @Test(arguments: ["[", "(", "*a", "a{2,1}", ")", #"\"#, "[b-a]", "[]", "a{70000}", #"\x{100}"#, "[\\d-z]", "(?i"])
    func `a malformed pattern is refused`(pattern: String) {
        #expect(throws: PatternRefusal.malformed) { try FoundationPattern(pattern) }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("^(a+)+$", 40, "!"), ("[^z]*z[^z]", 500_000, "z"), ("(?:a|b)*cc", 500_000, "c"),
            ("a*(?>[^z]*)y", 20_000, "z"),
            ("a*[^z]*+y", 20_000, "z"), ("a*(?=[^z]*z)y", 20_000, "z"), (#"(a{1,1000})\1+b[^b]"#, 20_000, "b"),
        ])
    func `a search that would take too long does not match, each time`(pattern: String, length: Int, end: String) throws
    {
        let pattern = try FoundationPattern(pattern)
        let text = String(repeating: "a", count: length) + end
        for _ in 0..<2 { #expect(!pattern.occurs(in: text)) }
    }

    @Test func `bytes are what a pattern counts`() throws {
        #expect(try FoundationPattern("^..$").occurs(in: "é"))
        #expect(try !FoundationPattern("^.$").occurs(in: "é"))
        #expect(try FoundationPattern(#"^\xc3\xa9$"#).occurs(in: "é"))
        #expect(try !FoundationPattern(#"(?i)é"#).occurs(in: "É"))
        let translation = try PatternTranslator.translate(#"(?i)^é\d{2}$"#)
        #expect(
            translation.text.hasSuffix(#"(?:\A\ue0c3\ue0a9[0-9]{2}(?=\u000a?\z))"#) && translation.hidesWork == false)
    }
}

extension FoundationPattern {
    func occurs(in text: String) -> Bool { occurs(in: text, SelectorWork(SelectorWork.document)) }

    #if canImport(CPCRE2)
    func answer(in text: String) -> Bool? { SelectorWork.answer { occurs(in: text, $0) } }
    #endif
}
