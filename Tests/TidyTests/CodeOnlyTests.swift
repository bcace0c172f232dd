import Testing

struct CodeOnlyTests {
    @Test(arguments: [
        ("let a = 1 // try!", "let a = 1        "),
        ("a /* b /* c */ d */ e", "a                   e"),
        (#"f("x { y", z)"#, #"f("     ", z)"#),
        (#"f("a\"b", c)"#, #"f("    ", c)"#),
        (#"f("a\(b["{"] ?? "}")c", d)"#, #"f(" \(b[" "] ?? " ") ", d)"#),
        ("f(#\"a\"b\\(c)\"#, d)", "f(#\"       \"#, d)"),
        ("\"\"\"\n{ \"\n\"\"\" }", "\"\"\"\n   \n\"\"\" }"),
        ("func `a { b`() {", "func `     `() {"),
        ("\"open\n{", "\"    \n{"),
    ])
    func `what is not code is blanked out`(source: String, code: String) {
        #expect(codeOnly(source) == code)
    }
}
