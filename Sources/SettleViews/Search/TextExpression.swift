/// What a search asks for, of which an expression of SQLite's FTS5 is made.
indirect enum TextExpression: Equatable {
    /// Words one after the other, or one word.
    case phrase(String, isPrefix: Bool, column: Int?)
    /// Words that stand near each other, with so many others between them at the most.
    case near([String], distance: Int, column: Int?)
    case all([TextExpression])
    case any([TextExpression])
    /// One without another.
    case without(TextExpression, TextExpression)

    /// The expression as FTS5 has it; texts are in quotes, so that none of them means anything to it.
    var fts5: String {
        switch self {
        case .phrase(let text, let isPrefix, let column):
            return Self.filter(column) + Self.quoted(text) + (isPrefix ? " *" : "")
        case .near(let words, let distance, let column):
            return Self.filter(column) + "NEAR(\(words.map(Self.quoted).joined(separator: " ")), \(distance))"
        case .all(let parts): return parts.map { "(\($0.fts5))" }.joined(separator: " AND ")
        case .any(let parts): return parts.map { "(\($0.fts5))" }.joined(separator: " OR ")
        case .without(let left, let right): return "(\(left.fts5)) NOT (\(right.fts5))"
        }
    }

    private static func filter(_ column: Int?) -> String { column.map { "c\($0) : " } ?? "" }

    private static func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\"\"") + "\"" }
}
