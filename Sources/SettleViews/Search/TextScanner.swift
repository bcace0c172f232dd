internal import SettleDatabase

/// Splits a search into tokens.
///
///     title:(cat* "old books")    →    field title, opening, word cat *, phrase old books, closing
struct TextScanner {
    private let characters: [Character]
    private var position = 0
    private var tokens: [(token: TextToken, position: Int)] = []

    /// The tokens of a search, each with the number of its first character, from 1.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    static func tokens(of text: String) throws -> [(token: TextToken, position: Int)] {
        var scanner = TextScanner(characters: Array(text))
        try scanner.scan()
        return scanner.tokens
    }

    private init(characters: [Character]) { self.characters = characters }

    /// Makes an error about a position in a search.
    static func failure(_ message: String, at position: Int) -> DatabaseError {
        DatabaseError(.invalid, "the search can't be understood at character \(position): \(message)")
    }

    private mutating func scan() throws {
        while position < characters.count {
            let start = position
            switch characters[position] {
            case let character where character.isWhitespace: position += 1
            case "(": add(.opening)
            case ")": add(.closing)
            case "-" where isAtWord(position + 1): add(.not)
            case "+" where isAtWord(position + 1): position += 1
            case "\"": try scanPhrase()
            case "[", "{":
                throw Self.failure("ranges are no part of a search for words; put the sign into quotes", at: start + 1)
            default: try scanWord()
            }
        }
    }

    private mutating func add(_ token: TextToken) {
        tokens.append((token, position + 1))
        position += 1
    }

    private func isAtWord(_ place: Int) -> Bool {
        place < characters.count && !characters[place].isWhitespace && characters[place] != ")"
    }

    private mutating func scanPhrase() throws {
        let start = position
        var text = ""
        position += 1
        while true {
            guard position < characters.count else {
                throw Self.failure("this quote has no other one", at: start + 1)
            }
            let character = characters[position]
            position += 1
            if character == "\"" { break }
            if character == "\\", position < characters.count {
                text.append(characters[position])
                position += 1
            } else {
                text.append(character)
            }
        }
        var distance: Int?
        if position < characters.count, characters[position] == "~" {
            let digits = characters[(position + 1)...].prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(String(digits)), number <= 10_000 else {
                throw Self.failure("~ takes a number of words", at: position + 1)
            }
            distance = number
            position += 1 + digits.count
        }
        let isPrefix = try takeStar()
        tokens.append((.phrase(text, isPrefix: isPrefix, distance: distance), start + 1))
    }

    private mutating func scanWord() throws {
        let start = position
        var text = ""
        var isPlain = true
        while position < characters.count {
            let character = characters[position]
            if character.isWhitespace || "()\"*".contains(character) { break }
            if character == ":" {
                guard !text.isEmpty, isAtWord(position + 1) else {
                    throw Self.failure(
                        "a colon stands between a field and a word; put it into quotes", at: position + 1)
                }
                position += 1
                return tokens.append((.field(text), start + 1))
            }
            position += 1
            if character == "\\", position < characters.count {
                text.append(characters[position])
                position += 1
                isPlain = false
            } else {
                text.append(character)
            }
        }
        let isPrefix = try takeStar()
        switch text {
        case "AND" where isPlain && !isPrefix: tokens.append((.and, start + 1))
        case "OR" where isPlain && !isPrefix: tokens.append((.or, start + 1))
        case "NOT" where isPlain && !isPrefix: tokens.append((.not, start + 1))
        case "": throw Self.failure("a * stands behind the beginning of a word", at: start + 1)
        default: tokens.append((.word(text, isPrefix: isPrefix), start + 1))
        }
    }

    /// Consumes a star after a word.
    private mutating func takeStar() throws -> Bool {
        guard position < characters.count, characters[position] == "*" else { return false }
        position += 1
        guard position == characters.count || characters[position].isWhitespace || characters[position] == ")" else {
            throw Self.failure("a * stands only at the end of a word", at: position)
        }
        return true
    }
}

/// A token of a search.
enum TextToken: Equatable {
    case opening, closing, and, or, not
    /// A word, optionally followed by `*`.
    case word(String, isPrefix: Bool)
    /// Quoted words, optionally followed by `*`, or by `~` and a distance.
    case phrase(String, isPrefix: Bool, distance: Int?)
    /// The name of a field, followed by a colon.
    case field(String)
}
