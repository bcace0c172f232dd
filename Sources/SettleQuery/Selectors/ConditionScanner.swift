internal import SettleCore

/// Splits a condition into its tokens.
struct ConditionScanner {
    private let text: String
    private var rest: Substring
    /// The place where the last token began.
    private(set) var place: Substring

    /// The symbols, those that begin with another one first.
    private static let symbols = (["&&", "||", "==", "(", ")", "!"] + SelectorOperator.all.compactMap(\.sign))
        .sorted { $0.count > $1.count }

    init(_ text: String) {
        self.text = text
        rest = text[...]
        place = rest
    }

    /// The next token; `nil` at the end.
    ///
    /// - Throws: ``ConditionError``.
    mutating func next() throws -> ConditionScanner.Token? {
        rest = rest.drop(while: \.isWhitespace)
        place = rest
        guard let first = rest.first else { return nil }
        if let symbol = Self.symbols.first(where: { rest.hasPrefix($0) }) {
            rest = rest.dropFirst(symbol.count)
            return .symbol(symbol == "==" ? "=" : symbol)
        }
        switch first {
        case "\"", "'":
            let text = try quoted(first)
            guard rest.first == ".", let next = rest.dropFirst().first, next.isLetter || "\"'_".contains(next) else {
                return .value(.string(text))
            }
            return .word(SelectorPath.escaped(text) + (try path()))
        case "[", "{": return .value(try json(try balanced()))
        case "0"..."9", "-", "+", ".":
            return .value(try json(consume { $0.isLetter || $0.isNumber || "+-.".contains($0) }))
        default:
            let word = try path()
            guard word.isEmpty else { return .word(word) }
            throw failure("\"\(first)\" has no meaning here")
        }
    }

    /// An error with its position.
    func failure(_ message: String) -> ConditionError {
        let position = place.isEmpty ? "at the end of \(text)" : "at \(place)"
        return ConditionError(
            message: "the condition is malformed: \(message), \(position)",
            offset: text.utf16.distance(from: text.startIndex, to: place.startIndex))
    }

    private mutating func consume(while isWanted: (Character) -> Bool) -> Substring {
        let part = rest.prefix(while: isWanted)
        rest = rest[part.endIndex...]
        return part
    }

    /// A path, in which a backslash precedes a dot that belongs to a name; a name after a dot may be quoted.
    private mutating func path() throws -> String {
        var path = ""
        while let character = rest.first {
            if character == "\\", let escaped = rest.dropFirst().first {
                path += "\\\(escaped)"
                rest = rest.dropFirst(2)
            } else if character == "\"" || character == "'", path.hasSuffix(".") {
                path += SelectorPath.escaped(try quoted(character))
            } else if character.isLetter || character.isNumber || "_.-@:$/".contains(character) {
                path.append(character)
                rest = rest.dropFirst()
            } else {
                break
            }
        }
        return path
    }

    /// A quoted text: in double quotes as JSON, in single quotes with backslashes before quotes and backslashes.
    private mutating func quoted(_ quote: Character) throws -> String {
        var text = ""
        var isEscaped = false
        rest = rest.dropFirst()
        while let character = rest.popFirst() {
            if !isEscaped, character == quote {
                guard quote == "\"" else { return text }
                guard let value = try json("\"\(text)\"").string else { break }
                return value
            }
            isEscaped = !isEscaped && character == "\\"
            if quote == "\"" || !isEscaped { text.append(character) }
        }
        throw failure("the text lacks its closing \(quote)")
    }

    /// An array or object, as its text.
    private mutating func balanced() throws -> Substring {
        var (depth, isInString, isEscaped) = (0, false, false)
        for index in rest.indices {
            let character = rest[index]
            if isInString {
                if character == "\"", !isEscaped { isInString = false }
                isEscaped = !isEscaped && character == "\\"
                continue
            }
            switch character {
            case "\"": isInString = true
            case "[", "{": depth += 1
            case "]", "}": depth -= 1
            default: break
            }
            guard depth == 0 else { continue }
            defer { rest = rest[rest.index(after: index)...] }
            return rest[...index]
        }
        throw failure("a bracket is not closed")
    }

    private func json(_ text: some StringProtocol) throws -> JSONValue {
        do { return try JSONValue(parsing: String(text)) } catch { throw failure("\(text) is not JSON") }
    }
}

extension ConditionScanner {
    /// A token of a condition.
    enum Token: Equatable {
        /// The path of a member, or a keyword such as `and`.
        case word(String)
        /// One of `( ) ! && ||`, or an operator's sign.
        case symbol(String)
        /// A number, a quoted text, an array or an object.
        case value(JSONValue)

        /// A symbol, or a word in small letters, as it is compared with keywords; `nil` for a value.
        var keyword: String? {
            switch self {
            case .symbol(let text): text
            case .word(let text): text.lowercased()
            case .value: nil
            }
        }
    }
}

/// The problem with a condition.
package struct ConditionError: Error {
    /// The reason, with the text from where it is wrong.
    package let message: String
    /// Where it is wrong, in UTF-16 units from the beginning.
    package let offset: Int
}
