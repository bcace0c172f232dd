/// Splits a line into words as a shell does: quotes keep blanks, a backslash keeps the next character.
enum ShellWords {
    /// The words of a line, without a comment.
    ///
    /// - Throws: ``CommandError`` with status `usage` for a quote that is not closed.
    static func split(_ line: String) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var rest = line[...]
        while let character = rest.popFirst() {
            switch (quote, character) {
            case (nil, "#") where word == nil: return words
            case (nil, "'"), (nil, "\""):
                quote = character
                word = word ?? ""
            case (nil, _) where character.isWhitespace:
                if let word { words.append(word) }
                word = nil
            case (let open?, _) where open == character: quote = nil
            // Within double quotes a backslash keeps only what has a meaning there.
            case ("\"", "\\"):
                let isKept = rest.first == "\"" || rest.first == "\\"
                word = (word ?? "") + String(isKept ? rest.removeFirst() : character)
            case (nil, "\\"):
                guard let next = rest.popFirst() else { throw failure("a backslash ends the line") }
                word = (word ?? "") + String(next)
            default: word = (word ?? "") + String(character)
            }
        }
        if let quote { throw failure("the quote \(quote) is not closed") }
        return words + [word].compactMap(\.self)
    }

    private static func failure(_ message: String) -> CommandError { .usage("\(message) in this line", verb: "shell") }
}
