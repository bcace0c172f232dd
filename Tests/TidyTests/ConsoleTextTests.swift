import Testing

/// The texts of the console: all of them come from a catalogue, so that a language is one file more.
struct ConsoleTextTests {
    private static let folder = "Sources/CConsole/web/app/"
    private static let english = folder + "texts/en.js"

    private static var modules: [SourceFile] {
        Repository.shared.files.filter {
            $0.path.hasPrefix(folder) && $0.path.hasSuffix(".js") && !$0.path.hasPrefix(folder + "texts/")
        }
    }

    /// Texts in quotes that are no sentences: names of what browsers have, examples of what can be typed, the product's name.
    private static let exceptions: Set = [
        "AbortError", "Cookie", "Enter", "Escape", "Home", "PageUp", "a[href], button, input",
        "${}px", "min(${}px, calc(var(--row) * ${}))", "ben", "staff", "type=milk", "req.query",
        "/updatedBy", "/updatedAt", "/count", "count, name", "done = false", "Files", #"count > 1 && name begins "M""#,
        "Settle",
    ]
    /// Beginnings of commands and code.
    private static let beginnings = ["settle ", "function (", "{"]
    /// It has the keywords of JavaScript.
    private static let keywords = folder + "parts/code-colours.js"

    /// Whether a text in quotes is one that people read: several words, a word with a capital, or any word at a text's place.
    private static func isText(_ literal: ScriptLiterals.Literal) -> Bool {
        let text = literal.text.replacing("${}", with: "X")
        if exceptions.contains(literal.text) || beginnings.contains(where: text.hasPrefix) { return false }
        if literal.before.contains(/class: (?:\w+ \? )?$/) || !literal.text.contains(/[A-Za-z]{2}/) { return false }
        let member = /(?:'aria-label'|'data-label'|\b(?:title|label|text|placeholder|empty|action|why)): $/
        let argument = /(?:\bbutton|\bfield|setTitle|confirm|Error|tableHead)\(\[?$|\}, $/
        let isAtPlace = literal.before.contains(member) || literal.before.contains(argument)
        return text.contains(/[A-Za-z]{2,}[,;:]? [a-z]/) || text.contains(/^[A-Z][a-z]+[.:…]?$/)
            || isAtPlace && text.contains(/[A-Za-z]{2}/)
    }

    private static func complaints(_ file: SourceFile) -> [Complaint] {
        ScriptLiterals(file.text).literals.filter(isText).map {
            file.complaint($0.line, "\"\($0.text)\" belongs into \(english): write t.{module}.{name} here")
        }
    }

    @Test func `no module has a text of its own`() {
        #expect(Self.modules.count > 40)
        expectNone(Self.modules.filter { $0.path != Self.keywords }.flatMap(Self.complaints))
    }

    @Test(arguments: [
        ("h('p', {}, 'none')", 1), ("button('save', run)", 1), ("h('p', { class: 'a b' }, t.a.b)", 0),
        ("const words = `${n} documents written`;", 1), ("if (/it's a/.test(x)) return 'Not allowed.';", 1),
        ("// 'a text'\n/* 'another text' */ go('docs');", 0), ("input({ 'aria-label': `pick ${path}` })", 1),
        ("`${ready ? `${n} of them` : ''} ms`", 1), ("ask('_find', { method: 'POST' })", 0),
    ])
    func `a text in a module is found`(code: String, count: Int) {
        #expect(Self.complaints(SourceFile(path: "a.js", text: code)).count == count)
    }

    /// The names of the texts in a catalogue: `module.name`.
    private static func names(_ catalogue: SourceFile) -> [String] {
        var section = ""
        var names: [String] = []
        for line in ScriptLiterals(catalogue.text).code.split(separator: "\n") {
            if let found = line.firstMatch(of: #/^ {2}(\w+): \{/#) { section = String(found.1) }
            guard line.hasPrefix("    "), section != "formats" else { continue }
            names += line.matches(of: #/(?:^ {4}|, )(\w+): /#).map { "\(section).\($0.1)" }
        }
        return names
    }

    @Test func `each text that a module names exists, and each that exists is named`() throws {
        let catalogue = try #require(Repository.shared.file(Self.english))
        let names = Self.names(catalogue)
        #expect(Set(names).count == names.count && names.count > 500)
        let used = Self.modules.flatMap { file in
            file.text.matches(of: /\bt\.(\w+\.\w+)/).map { String($0.1) }.filter { !$0.hasPrefix("formats.") }
        }
        #expect(Set(used).subtracting(names).sorted() == [], "missing in \(Self.english)")
        let whole = Set(Self.modules.flatMap { $0.text.matches(of: /\(t\.(\w+)\)/).map { String($0.1) } })
        let unused = Set(names).subtracting(used).filter { !whole.contains(String($0.prefix { $0 != "." })) }
        #expect(unused.sorted() == [], "used nowhere")
    }

    @Test func `each catalogue has the texts of the English one, and its line in words.js`() throws {
        let words = try #require(Repository.shared.file(Self.folder + "words.js"))
        let english = Set(Self.names(try #require(Repository.shared.file(Self.english))))
        let catalogues = Repository.shared.files.filter { $0.path.hasPrefix(Self.folder + "texts/") }
        let listed = words.text.matches(of: /\w+: \(\) => import\('\.\/(texts\/\w+\.js)'\)/).map { String($0.1) }
        #expect(Set(listed) == Set(catalogues.map { String($0.path.dropFirst(Self.folder.count)) }))
        for catalogue in catalogues { #expect(Set(Self.names(catalogue)) == english, "\(catalogue.path)") }
    }

    @Test(arguments: [
        ("KINDS", "Sources/SettleImport/Foreign/ForeignDatabase.swift", "enum Kind"),
        ("ENCODINGS", "Sources/SettleImport/Dumps/TextEncoding.swift", "enum TextEncoding"),
    ])
    func `the page of imports offers what the library reads`(list: String, path: String, start: String) throws {
        let page = try #require(Repository.shared.file(Self.folder + "pages/files.js")).text
        let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("const \(list) = ") })
        let source = try #require(Repository.shared.file(path)).text
        let declaration = source[try #require(source.firstRange(of: start)).upperBound...]
        // The cases stand before the first function, which has a `switch` with cases of its own.
        let cases = declaration.prefix(upTo: try #require(declaration.firstRange(of: /\n {4}}|\n\n/)).lowerBound)
            .matches(of: /\n *case (\w+)(?: = "([^"]+)")?/)
        #expect(Set(line.matches(of: /'([^']+)'/).map(\.1)) == Set(cases.map { $0.2 ?? $0.1 }))
        #expect(cases.count > 5)
    }
}
