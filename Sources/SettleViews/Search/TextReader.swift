internal import RevisionTree
internal import SettleDatabase

/// Reads one state of a search index.
final class TextReader {
    private let connection: SQLiteConnection
    private let columns: Int
    private let weights: String
    private var statements: [String: SQLiteStatement] = [:]

    /// What stands in front of a word that was found, and behind it; no text has them.
    static let (opening, closing): (Character, Character) = ("\u{1}", "\u{2}")

    init(_ path: String, _ tables: IndexTables, weights: [Double]) throws {
        connection = try IndexFile.open(path, tables)
        columns = weights.count
        self.weights = weights.map { "\($0)" }.joined(separator: ", ")
    }

    /// Runs a closure that sees one state.
    func snapshot<Result>(_ body: (TextReader) throws -> Result) throws -> Result {
        try statement("BEGIN").run()
        defer { try? statement("COMMIT").run() }
        return try body(self)
    }

    /// How far the index has come.
    func sequence() throws -> UpdateSequence {
        try IndexState.sequence(by: statement(IndexState.sequenceQuery))
    }

    /// How many documents an expression of FTS5 finds.
    func count(_ expression: String) throws -> Int {
        let statement = try statement("SELECT count(*) FROM texts WHERE texts MATCH CAST(?1 AS TEXT)")
        statement.bind(1, utf8: expression)
        return Int(try statement.first { $0.integer(0) } ?? 0)
    }

    /// The documents that an expression of FTS5 finds, those that fit best first, and those that fit as well by their ids.
    ///
    /// - Parameters:
    ///   - expression: The expression.
    ///   - skip: How many to pass over.
    ///   - limit: How many at the most.
    ///   - words: How many words a piece of text has; `nil` for no pieces.
    /// - Returns: The documents.
    /// - Throws: ``DatabaseError``.
    func rows(_ expression: String, skip: Int, limit: Int, words: Int?) throws -> [TextRow] {
        let found = try statement(
            """
            SELECT d.id, bm25(texts, \(weights)) AS rank, d.number
            FROM texts JOIN documents d ON d.number = texts.rowid
            WHERE texts MATCH CAST(?1 AS TEXT) ORDER BY rank, d.id LIMIT ?2 OFFSET ?3
            """)
        found.bind(1, utf8: expression)
        found.bind(2, Int64(clamping: limit))
        found.bind(3, Int64(clamping: skip))
        let rows = try found.all { row in
            (TextRow(id: DocumentID(unchecked: row.string(0)), score: -row.double(1)), row.integer(2))
        }
        guard let words else { return rows.map(\.0) }
        let list = (0..<columns).map { "snippet(texts, \($0), char(1), char(2), '…', \(words))" }
        let pieces = try statement(
            """
            SELECT \(list.joined(separator: ", ")) FROM texts
            WHERE texts MATCH CAST(?1 AS TEXT) AND rowid = ?2
            """)
        return try rows.map { row, number in
            var row = row
            pieces.bind(1, utf8: expression)
            pieces.bind(2, number)
            row.pieces = try pieces.first { line in (0..<columns).map { line.string(Int32($0)) } } ?? []
            return row
        }
    }

    private func statement(_ sql: String) throws -> SQLiteStatement {
        if let known = statements[sql] { return known }
        let made = try SQLiteStatement(sql, on: connection)
        statements[sql] = made
        return made
    }
}
