/// A piece of a document's text with words that a search has found.
public struct TextSnippet: Hashable, Sendable {
    /// A run of text.
    public struct Part: Hashable, Sendable {
        /// The text.
        public let text: String
        /// Whether it was looked for.
        public let isMatch: Bool
    }

    /// The field it is of; `nil` for a piece of all texts of the document.
    public let field: String?
    /// The text, in parts; `…` stands where it is cut off.
    public let parts: [Part]

    /// The text with signs around what was looked for.
    ///
    /// - Parameters:
    ///   - opening: What stands in front of it.
    ///   - closing: What stands behind it.
    /// - Returns: The text. Nothing in it is escaped.
    public func marked(_ opening: String = "[", _ closing: String = "]") -> String {
        parts.map { $0.isMatch ? opening + $0.text + closing : $0.text }.joined()
    }

    /// Reads a piece with the marks of ``TextReader``; `nil` for one in which nothing was found.
    init?(_ piece: String, field: String?) {
        var parts: [Part] = []
        var text = ""
        for character in piece {
            switch character {
            case TextReader.opening, TextReader.closing:
                if !text.isEmpty { parts.append(Part(text: text, isMatch: character == TextReader.closing)) }
                text = ""
            default: text.append(character)
            }
        }
        if !text.isEmpty { parts.append(Part(text: text, isMatch: false)) }
        guard parts.contains(where: \.isMatch) else { return nil }
        self.field = field
        self.parts = parts
    }
}
