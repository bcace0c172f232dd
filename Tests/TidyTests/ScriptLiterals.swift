/// The texts in quotes of a file in JavaScript, outside of comments and regular expressions.
struct ScriptLiterals {
    /// A text in quotes; a value that is put into a template stands as `${}`.
    struct Literal {
        var text: String
        /// What stands before it in its line.
        var before: String
        var line: Int
    }

    private(set) var literals: [Literal] = []
    /// The code, with nothing between the quotes.
    private(set) var code = ""
    private let source: [Character]
    private var index = 0
    private var line = 1
    private var lineStart = 0
    /// The templates that are open, each by its place in ``literals`` and the braces that are open in its value.
    private var templates: [(literal: Int, braces: Int)] = []
    /// The last character that is no blank, which tells a regular expression from a division.
    private var last: Character = ";"

    init(_ text: String) {
        source = Array(text)
        while index < source.count { step() }
    }

    private mutating func step() {
        switch source[index] {
        case "/" where at(1) == "/": while index < source.count, source[index] != "\n" { index += 1 }
        case "/" where at(1) == "*": skipComment()
        case "/" where "(,=:[!&|?{};".contains(last): skipPattern()
        case "'", "\"": readString(source[index])
        case "`":
            literals.append(literal())
            templates.append((literals.count - 1, 0))
            keep()
            readTemplate()
        case "}" where templates.last?.braces == 0:
            index += 1
            readTemplate()
        case let character:
            if let open = templates.indices.last, "{}".contains(character) {
                templates[open].braces += character == "{" ? 1 : -1
            }
            if !character.isWhitespace { last = character }
            keep()
        }
    }

    private mutating func readString(_ quote: Character) {
        var found = literal()
        keep()
        while index < source.count, source[index] != quote {
            if source[index] == "\\" { found.text.append(advance()) }
            found.text.append(advance())
        }
        keep()
        literals.append(found)
        last = quote
    }

    /// Reads a template up to its next value or to its end.
    private mutating func readTemplate() {
        guard let open = templates.last?.literal else { return }
        while index < source.count {
            switch source[index] {
            case "`":
                templates.removeLast()
                keep()
                last = "`"
                return
            case "$" where at(1) == "{":
                literals[open].text += "${}"
                index += 2
                return
            case "\\":
                literals[open].text.append(advance())
                literals[open].text.append(advance())
            default: literals[open].text.append(advance())
            }
        }
    }

    private mutating func skipComment() {
        index += 2
        while index < source.count, !(source[index] == "*" && at(1) == "/") { _ = advance() }
        index += 2
    }

    private mutating func skipPattern() {
        index += 1
        var isInSet = false
        while index < source.count, source[index] != "/" || isInSet {
            if source[index] == "\\" { index += 1 }
            if source[index] == "[" { isInSet = true } else if source[index] == "]" { isInSet = false }
            index += 1
        }
        index += 1
        last = ")"
    }

    private func literal() -> Literal {
        Literal(text: "", before: String(source[min(lineStart, index)..<index]), line: line)
    }

    private func at(_ offset: Int) -> Character? {
        source.indices.contains(index + offset) ? source[index + offset] : nil
    }

    private mutating func keep() { code.append(advance()) }

    private mutating func advance() -> Character {
        guard index < source.count else { return " " }
        let character = source[index]
        index += 1
        if character == "\n" { (line, lineStart) = (line + 1, index) }
        return character
    }
}
