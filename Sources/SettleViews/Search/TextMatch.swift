public import SettleCore
public import SettleDatabase

/// A document that matches a search.
public struct TextMatch: Hashable, Sendable {
    /// The document's id.
    public let id: DocumentID
    /// Its relevance by BM25: higher with more occurrences, rarer words and shorter documents. It is comparable only
    /// within the same search.
    public let score: Double
    /// Snippets of the document's text, for each field with a match.
    public let snippets: [TextSnippet]

    init(_ row: TextRow, in index: TextIndex) {
        id = row.id
        score = row.score
        let names: [String?] = (index.hasDefaultColumn ? [nil] : []) + index.fields.map { Optional($0.path) }
        snippets = zip(row.pieces, names).compactMap { TextSnippet($0, field: $1) }
    }

    /// Reads the current document; `nil` when it was deleted meanwhile.
    ///
    /// - Throws: ``DatabaseError`` when the database can't be read.
    public func document(in database: Database) throws -> Document? { try database.document(id) }
}

// MARK: - TextSnippet

/// A piece of a document's text around words that match a search.
public struct TextSnippet: Hashable, Sendable {
    /// A run of text.
    public struct Part: Hashable, Sendable {
        /// The text.
        public let text: String
        /// Whether it matches the search.
        public let isMatch: Bool
    }

    /// The field it is from; `nil` for all texts of the document.
    public let field: String?
    /// The text, in parts; `…` marks omitted text.
    public let parts: [Part]

    /// The text with markers around the matches.
    ///
    /// - Parameters:
    ///   - opening: The marker before a match.
    ///   - closing: The marker after a match.
    /// - Returns: The text, without escaping.
    public func marked(_ opening: String = "[", _ closing: String = "]") -> String {
        parts.map { $0.isMatch ? opening + $0.text + closing : $0.text }.joined()
    }

    /// Parses a snippet with the markers of ``TextReader``; `nil` if it contains no match.
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
