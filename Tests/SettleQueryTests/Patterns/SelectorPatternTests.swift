import SettleCore
import SettleQuery
import Testing

/// Regular expressions: Perl's language over bytes, with bounded work.
struct SelectorPatternTests {
    @Test(arguments: [
        ("^A", "Ada", true), ("d", "Ada", true), ("^d", "Ada", false), ("(?i)^a.a$", "ADA", true),
        (#"^\d{3}-\w+$"#, "123-ab_c", true), ("a(?=b)", "ac", false), ("(?<=a)b", "ab", true), (#"(a)\1"#, "aa", true),
        ("^a$", "a\n", true), (#"\Aa\z"#, "a\n", false), ("^b", "a\nb", false), ("(?m)^b", "a\nb", true),
        ("a.b", "a\nb", false), ("(?s)a.b", "a\nb", true), ("", "", true), ("", "x", true), ("x", "", false),
        ("^(?>a+)b", "aab", true), ("[[:alpha:]]", "1", false),
    ])
    func `a pattern matches anywhere in the string`(pattern: String, text: String, isMatch: Bool) throws {
        #expect(try MangoSelector(["a": ["$regex": .string(pattern)]]).matches(["a": .string(text)]) == isMatch)
    }

    @Test func `patterns match bytes`() throws {
        #expect(try !MangoSelector(["a": ["$regex": "^.va$"]]).matches(["a": "\u{C9}va"]))
        #expect(try MangoSelector(["a": ["$regex": "^..va$"]]).matches(["a": "\u{C9}va"]))
        #expect(try MangoSelector(["a": ["$regex": "\u{C9}"]]).matches(["a": "\u{C9}va"]))
    }

    @Test func `only strings match a pattern`() throws {
        for value: JSONValue in [1, nil, true, ["a"], ["a": "a"]] {
            #expect(try !MangoSelector(["a": ["$regex": ""]]).matches(["a": value]))
        }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("(a+)+$", 40, "!"), ("[^z]*z[^z]", 2_000_000, "z"),
            ("(?:a|b)*cc", 2_000_000, "c"),
        ])
    func `a pattern that would take too long does not match`(pattern: String, length: Int, end: String) throws {
        let text = String(repeating: "a", count: length) + end
        #expect(try !MangoSelector(["a": ["$regex": .string(pattern)]]).matches(["a": .string(text)]))
    }

    #if canImport(CPCRE2)
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            (#"(a*)\1+b[^b]"#, 100_000, "b"), ("(?R)?a(?R)?b[^b]", 1_000, "b"),
            (#"([^z]*)\1[^a]b[^b]"#, 1_000_000, "b"),
        ])
    func `what only PCRE2 has is bounded too`(pattern: String, length: Int, end: String) throws {
        let text = String(repeating: "a", count: length) + end
        #expect(try !MangoSelector(["a": ["$regex": .string(pattern)]]).matches(["a": .string(text)]))
    }

    @Test func `properties are those of Unicode`() throws {
        #expect(try MangoSelector(["a": ["$regex": #"\p{Lu}"#]]).matches(["a": "A"]))
    }
    #else
    @Test func `a construct that this system lacks is named`() {
        let error = #expect(throws: SelectorError.self) { try MangoSelector(["a": ["$regex": "(?R)?a"]]) }
        #expect(error?.code == .badArgument && error?.reason.contains("don't support") == true)
    }
    #endif

    @Test func `a long text is searched to its end`() throws {
        let text = "foo" + String(repeating: "x", count: 2_000_000) + "bar"
        #expect(try MangoSelector(["a": ["$regex": "foo.*bar"]]).matches(["a": .string(text)]))
        #expect(try MangoSelector(["a": ["$regex": "b[a-z]r$"]]).matches(["a": .string(text)]))
    }

    @Test(arguments: ["[", "(", "*a", "a{2,1}", "(?<n", #"\"#, "(?z)"])
    func `a malformed pattern is refused`(pattern: String) {
        #expect(throws: SelectorError.self) { try MangoSelector(["a": ["$regex": .string(pattern)]]) }
    }

    @Test func `a pattern that is too large is refused`() {
        let long = String(repeating: "a", count: 70_000)
        let deep = String(repeating: "(", count: 5_000) + String(repeating: ")", count: 5_000)
        for pattern in [long, deep, "((((a{60000}){60000}){60000}){60000})"] {
            #expect(throws: SelectorError.self) { try MangoSelector(["a": ["$regex": .string(pattern)]]) }
        }
    }
}
