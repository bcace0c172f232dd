/// A parsed search, from which an expression of SQLite's FTS5 is made.
indirect enum TextExpression: Equatable {
    /// Consecutive words, or one word.
    case phrase(String, isPrefix: Bool, column: Int?)
    /// Words near each other, with a maximum number of others between them.
    case near([String], distance: Int, column: Int?)
    case all([TextExpression])
    case any([TextExpression])
    /// Matches of the first expression without those of the second.
    case without(TextExpression, TextExpression)

    /// The expression in FTS5's syntax; texts are quoted, so that FTS5 does not interpret them.
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
