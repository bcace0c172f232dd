public import RevisionTree
public import SettleDatabase

/// A document that a search has found.
public struct TextMatch: Hashable, Sendable {
    /// The document's id.
    public let id: DocumentID
    /// How well it fits, by BM25: the more often it has the words, the rarer they are, and the shorter it is, the better. It
    /// can be compared with that of others of the same search only.
    public let score: Double
    /// Pieces of the document's text, for each field with a word that was found.
    public let snippets: [TextSnippet]

    init(_ row: TextRow, in index: TextIndex) {
        id = row.id
        score = row.score
        let names: [String?] = (index.hasDefaultColumn ? [nil] : []) + index.fields.map { Optional($0.path) }
        snippets = zip(row.pieces, names).compactMap { TextSnippet($0, field: $1) }
    }

    /// The document as it is now; `nil` when it was deleted meanwhile.
    ///
    /// - Throws: ``DatabaseError`` when the database can't be read.
    public func document(in database: Database) throws -> Document? { try database.document(id) }
}
