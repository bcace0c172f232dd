internal import SettleCore
internal import SettleDatabase

/// Parses a search.
///
///     catalogue deb*            both words, the second as a prefix
///     catalogue AND deb*        the same
///     sofa OR couch             one of them, or both
///     sofa NOT leather          one without the other; also: sofa -leather
///     "old books"               consecutive words; "old books"~5 with at most five words between them
///     title:(sofa OR couch)     in a field
///     not\:a\:field             escaped special characters
struct TextParser {
    private let index: TextIndex
    private let joinsAll: Bool
    private var tokens: ArraySlice<(token: TextToken, position: Int)>
    private var depth = 0

    private static let deepest = 50
    private static let maximumWords = 1000

    /// Parses a search.
    ///
    /// - Parameters:
    ///   - text: The search.
    ///   - index: The index to search.
    ///   - joinsAll: Whether adjacent words must all match; otherwise at least one of them.
    /// - Returns: The expression.
    /// - Throws: ``DatabaseError`` with code `invalid`; its message has the problem and the position.
    static func parse(_ text: String, in index: TextIndex, joinsAll: Bool = true) throws -> TextExpression {
        let tokens = try TextScanner.tokens(of: text)
        guard tokens.count <= maximumWords else {
            throw DatabaseError(.invalid, "the search has more than \(maximumWords) words")
        }
        var parser = TextParser(index: index, joinsAll: joinsAll, tokens: tokens[...])
        let found = try parser.parseAny(nil)
        if let rest = parser.tokens.first {
            throw TextScanner.failure("this parenthesis was not opened", at: rest.position)
        }
        guard let found else { throw DatabaseError(.invalid, "the search has no word to look for") }
        return found
    }

    private init(index: TextIndex, joinsAll: Bool, tokens: ArraySlice<(token: TextToken, position: Int)>) {
        self.index = index
        self.joinsAll = joinsAll
        self.tokens = tokens
    }

    /// Parses terms separated by `OR`; `nil` if there is nothing to search for.
    private mutating func parseAny(_ column: Int?) throws -> TextExpression? {
        var parts: [TextExpression] = []
        while true {
            let start = tokens.first?.position
            if let part = try parseAll(column) { parts.append(part) }
            guard let next = tokens.first, next.token == .or else { break }
            tokens.removeFirst()
            guard start != next.position else {
                throw TextScanner.failure("OR stands between words", at: next.position)
            }
            switch tokens.first?.token {
            case nil, .closing, .and, .or: throw TextScanner.failure("OR stands between words", at: next.position)
            default: break
            }
        }
        return parts.count < 2 ? parts.first : .any(parts)
    }

    /// Parses adjacent terms, with `AND`, `NOT` or nothing between them.
    private mutating func parseAll(_ column: Int?) throws -> TextExpression? {
        var wanted: [TextExpression] = []
        var unwanted: [TextExpression] = []
        var firstNot: Int?
        var hasAnd = joinsAll
        var isFirst = true
        while let (token, position) = tokens.first, token != .or, token != .closing {
            if token == .and {
                tokens.removeFirst()
                let next = tokens.first?.token
                guard !isFirst, next != nil, next != .closing, next != .or, next != .and else {
                    throw TextScanner.failure("AND stands between words", at: position)
                }
                hasAnd = true
                continue
            }
            isFirst = false
            if token == .not {
                tokens.removeFirst()
                firstNot = firstNot ?? position
                if let part = try parseOne(column, after: position) { unwanted.append(part) }
            } else if let part = try parseOne(column, after: position) {
                wanted.append(part)
            }
        }
        guard !wanted.isEmpty else {
            guard let firstNot else { return nil }
            throw TextScanner.failure(
                "NOT takes away from what else is found, and nothing else is wanted; put a text that begins with - into quotes",
                at: firstNot)
        }
        // FTS5 finds nothing for a part without words, such as a dash, and so nothing for all parts together.
        let parts = wanted.filter { hasWord($0) }
        if !parts.isEmpty { wanted = parts }
        let found: TextExpression = wanted.count == 1 ? wanted[0] : hasAnd ? .all(wanted) : .any(wanted)
        guard !unwanted.isEmpty else { return found }
        return .without(found, unwanted.count == 1 ? unwanted[0] : .any(unwanted))
    }

    /// Whether an expression has a word that can be found.
    private func hasWord(_ expression: TextExpression) -> Bool {
        switch expression {
        case .phrase(let text, _, _): index.tokenizer.hasWord(in: text)
        case .near(let words, _, _, _): words.contains { index.tokenizer.hasWord(in: $0) }
        case .all(let parts), .any(let parts): parts.contains { hasWord($0) }
        case .without(let found, _): hasWord(found)
        }
    }

    private mutating func parseOne(_ column: Int?, after place: Int) throws -> TextExpression? {
        guard let (token, position) = tokens.popFirst() else {
            throw TextScanner.failure("a word is missing behind it", at: place)
        }
        switch token {
        case .word(let text, let isPrefix): return isSilent(text) ? nil : phrase(text, isPrefix, column)
        case .phrase(let text, let isPrefix, let distance):
            if isSilent(text) { return nil }
            let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
                .filter { index.tokenizer.hasWord(in: $0) }
            guard let distance, words.count > 1, !index.tokenizer.isWhole else { return phrase(text, isPrefix, column) }
            return .near(
                words.map(index.tokenizer.prepared), isPrefix: isPrefix, distance: distance,
                column: column ?? defaultColumn)
        case .field(let name): return try parseOne(try self.column(of: name, at: position), after: position)
        case .opening:
            depth += 1
            guard depth <= Self.deepest else { throw TextScanner.failure("too many parentheses", at: position) }
            let found = try parseAny(column)
            guard tokens.popFirst()?.token == .closing else {
                throw TextScanner.failure("this parenthesis is not closed", at: position)
            }
            depth -= 1
            return found
        case .closing, .and, .or, .not: throw TextScanner.failure("a word is missing before it", at: position)
        }
    }

    private func phrase(_ text: String, _ isPrefix: Bool, _ column: Int?) -> TextExpression {
        .phrase(index.tokenizer.prepared(text), isPrefix: isPrefix, column: column ?? defaultColumn)
    }

    /// The column for words without a field.
    private var defaultColumn: Int? { index.hasDefaultColumn && !index.fields.isEmpty ? 0 : nil }

    /// Whether a text contains no words for the index's tokenizer.
    private func isSilent(_ text: String) -> Bool {
        index.tokenizer.takesSigns
            ? text.allSatisfy(\.isWhitespace)
            : !text.unicodeScalars.contains {
                $0.properties.isAlphabetic || $0.properties.numericType != nil || !$0.isASCII
            }
    }

    private func column(of name: String, at position: Int) throws -> Int {
        if index.hasDefaultColumn, name == "$default" { return 0 }
        let plain = name.replacing("[].", with: "").replacing(".[]", with: "")
        if let place = index.fields.firstIndex(where: {
            $0.path.hasSameBytes(as: name) || $0.path.replacing(".[]", with: "").hasSameBytes(as: plain)
        }) {
            return place + (index.hasDefaultColumn ? 1 : 0)
        }
        let names = index.fields.map(\.path).joined(separator: ", ")
        throw TextScanner.failure(
            names.isEmpty
                ? "the index has no fields, and so no field \"\(name)\"; put it into quotes to look for the text"
                : "the index has no field \"\(name)\", but \(names); put it into quotes to look for the text",
            at: position)
    }
}

// MARK: - TextScanner

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

    /// Creates an error about a position in a search.
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
                throw Self.failure("a search for words has no ranges; put the sign into quotes", at: start + 1)
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
        let isPrefix = try consumeStar()
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
        let isPrefix = try consumeStar()
        switch text {
        case "AND" where isPlain && !isPrefix: tokens.append((.and, start + 1))
        case "OR" where isPlain && !isPrefix: tokens.append((.or, start + 1))
        case "NOT" where isPlain && !isPrefix: tokens.append((.not, start + 1))
        case "": throw Self.failure("a * stands behind the beginning of a word", at: start + 1)
        default: tokens.append((.word(text, isPrefix: isPrefix), start + 1))
        }
    }

    /// Consumes a star after a word.
    private mutating func consumeStar() throws -> Bool {
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
    /// Quoted words, optionally followed by `~` and a distance, and by `*`.
    case phrase(String, isPrefix: Bool, distance: Int?)
    /// The name of a field, followed by a colon.
    case field(String)
}

// MARK: - TextExpression

/// A parsed search, which is converted to an expression of SQLite's FTS5.
indirect enum TextExpression: Equatable {
    /// Consecutive words, or one word.
    case phrase(String, isPrefix: Bool, column: Int?)
    /// Words near each other, with a maximum number of words between them; the last one may be a prefix.
    case near([String], isPrefix: Bool, distance: Int, column: Int?)
    case all([TextExpression])
    case any([TextExpression])
    /// Matches of the first expression without those of the second.
    case without(TextExpression, TextExpression)

    /// The expression in FTS5's syntax; texts are quoted, so that FTS5 does not interpret them.
    var fts5: String {
        switch self {
        case .phrase(let text, let isPrefix, let column):
            return Self.filter(column) + Self.quoted(text) + (isPrefix ? " *" : "")
        case .near(let words, let isPrefix, let distance, let column):
            let texts = words.map(Self.quoted).joined(separator: " ") + (isPrefix ? " *" : "")
            return Self.filter(column) + "NEAR(\(texts), \(distance))"
        case .all(let parts): return parts.map { "(\($0.fts5))" }.joined(separator: " AND ")
        case .any(let parts): return parts.map { "(\($0.fts5))" }.joined(separator: " OR ")
        case .without(let left, let right): return "(\(left.fts5)) NOT (\(right.fts5))"
        }
    }

    private static func filter(_ column: Int?) -> String { column.map { "c\($0) : " } ?? "" }

    private static func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\"\"") + "\"" }
}
