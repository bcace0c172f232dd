extension Declaration {
    private static let keywords: Set = [
        "func", "var", "let", "init", "subscript", "typealias", "associatedtype", "struct", "class", "enum", "actor",
        "protocol", "case", "macro", "extension", "import", "operator", "precedencegroup",
    ]

    private static let knownModifiers: Set = [
        "public", "open", "package", "internal", "fileprivate", "private", "static", "class", "final", "mutating",
        "nonmutating", "consuming", "borrowing", "indirect", "override", "required", "convenience", "lazy", "weak",
        "unowned", "nonisolated", "isolated", "dynamic", "optional", "prefix", "postfix", "infix", "distributed",
    ]

    /// Parses a piece of masked code that begins with a declaration; `nil` for anything else.
    init?(_ piece: String) {
        var modifiers: [String] = []
        var rest = Substring(piece)
        while let (word, after) = Declaration.nextWord(rest) {
            rest = after
            if word.hasPrefix("@") { continue }
            let next = Declaration.nextWord(rest)?.word ?? ""
            let isModifier =
                Declaration.knownModifiers.contains(word)
                && (Declaration.knownModifiers.contains(next) || Declaration.keywords.contains(next))
            if isModifier {
                modifiers.append(word)
            } else if Declaration.keywords.contains(word) {
                self.init(
                    modifiers: modifiers, keyword: word, name: next, line: 0, startsLine: true, scopes: [])
                return
            } else {
                return nil
            }
        }
        return nil
    }

    /// Takes one word, with `@` before it if there is one, and drops parentheses directly after it.
    private static func nextWord(_ text: Substring) -> (word: String, rest: Substring)? {
        let start = text.drop { $0.isWhitespace || $0 == "`" }
        var end = start.startIndex
        while end < start.endIndex, start[end].isLetter || start[end].isNumber || "_@".contains(start[end]) {
            end = start.index(after: end)
        }
        guard end > start.startIndex else { return nil }
        let word = String(start[..<end])
        let rest = start[end...]
        let takesArguments = word.hasPrefix("@") || knownModifiers.contains(word)
        return (word, takesArguments && rest.first == "(" ? skipParentheses(rest) : rest)
    }

    private static func skipParentheses(_ text: Substring) -> Substring {
        var depth = 0
        for index in text.indices {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[text.index(after: index)...] }
        }
        return text[text.endIndex...]
    }
}
