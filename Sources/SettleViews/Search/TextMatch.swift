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
