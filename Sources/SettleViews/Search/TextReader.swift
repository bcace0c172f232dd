package import SettleCore
internal import SettleDatabase

/// Reads snapshots of a search index.
final class TextReader {
    private let connection: SQLiteConnection
    private let columns: Int
    private let weights: String
    private var statements: [String: SQLiteStatement] = [:]

    /// The markers before and after a matching word. They occur in no text.
    static let (opening, closing): (Character, Character) = ("\u{1}", "\u{2}")

    init(_ path: String, _ tables: IndexTables, weights: [Double]) throws {
        connection = try IndexFile.open(path, tables)
        columns = weights.count
        self.weights = weights.map { "\($0)" }.joined(separator: ", ")
    }

    /// Runs a closure on one snapshot.
    func snapshot<Result>(_ body: (TextReader) throws -> Result) throws -> Result {
        try statement("BEGIN").run()
        defer { try? statement("COMMIT").run() }
        return try body(self)
    }

    /// The last processed change of the index.
    func sequence() throws -> UpdateSequence {
        try IndexState.sequence(by: statement(IndexState.sequenceQuery))
    }

    /// The number of documents that match an FTS5 expression.
    func count(_ expression: String) throws -> Int {
        let statement = try statement("SELECT count(*) FROM texts WHERE texts MATCH CAST(?1 AS TEXT)")
        statement.bind(1, utf8: expression)
        return Int(try statement.first { $0.integer(0) } ?? 0)
    }

    /// The number of documents.
    func count() throws -> Int { Int(try statement("SELECT count(*) FROM documents").first { $0.integer(0) } ?? 0) }

    /// The documents that match an FTS5 expression, by relevance and then by id.
    ///
    /// - Parameters:
    ///   - expression: The expression.
    ///   - skip: The number of documents to skip.
    ///   - limit: The maximum number of documents.
    ///   - words: The number of words in a snippet; `nil` for no snippets.
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
            row.pieces =
                try pieces.first { line in (0..<columns).map { SpacelessScripts.joined(line.string(Int32($0))) } } ?? []
            return row
        }
    }

    /// The documents that match an expression after a position in the order of relevance.
    ///
    /// - Parameters:
    ///   - expression: The expression of FTS5.
    ///   - place: The previous document with its relevance; `nil` to start with the most relevant.
    ///   - limit: The maximum number of documents.
    /// - Returns: The documents.
    /// - Throws: ``DatabaseError``.
    /// - Complexity: O(*m*) for *m* matching documents, regardless of the limit.
    func rows(_ expression: String, after place: TextRow?, limit: Int) throws -> [TextRow] {
        guard let place else { return try rows(expression, skip: 0, limit: limit, words: nil) }
        let found = try statement(
            """
            SELECT id, rank FROM (
                SELECT d.id AS id, bm25(texts, \(weights)) AS rank
                FROM texts JOIN documents d ON d.number = texts.rowid WHERE texts MATCH CAST(?1 AS TEXT))
            WHERE rank > ?2 OR (rank = ?2 AND id > ?3) ORDER BY rank, id LIMIT ?4
            """)
        found.bind(1, utf8: expression)
        // Concurrent writes change the relevance of all documents, so that of the previous document is computed
        // again.
        found.bind(2, -(try score(of: place.id, expression) ?? place.score))
        found.bind(3, utf8: place.id.string)
        found.bind(4, Int64(clamping: limit))
        return try found.all { TextRow(id: DocumentID(unchecked: $0.string(0)), score: -$0.double(1)) }
    }

    private func score(of id: DocumentID, _ expression: String) throws -> Double? {
        let one = try statement(
            """
            SELECT bm25(texts, \(weights)) FROM texts
            WHERE texts MATCH CAST(?1 AS TEXT) AND rowid = (SELECT number FROM documents WHERE id = ?2)
            """)
        one.bind(1, utf8: expression)
        one.bind(2, utf8: id.string)
        return try one.first { -$0.double(0) }
    }

    /// The documents that match an expression, by their numbers in the index, after a given number.
    ///
    /// - Complexity: O(*l*) for *l* documents.
    func rows(_ expression: String, afterNumber number: Int64, limit: Int) throws -> [(id: DocumentID, number: Int64)] {
        let found = try statement(
            """
            SELECT d.id, d.number FROM texts JOIN documents d ON d.number = texts.rowid
            WHERE texts MATCH CAST(?1 AS TEXT) AND texts.rowid > ?2 ORDER BY texts.rowid LIMIT ?3
            """)
        found.bind(1, utf8: expression)
        found.bind(2, number)
        found.bind(3, Int64(clamping: limit))
        return try found.all { (DocumentID(unchecked: $0.string(0)), $0.integer(1)) }
    }

    private func statement(_ sql: String) throws -> SQLiteStatement {
        if let known = statements[sql] { return known }
        let made = try SQLiteStatement(sql, on: connection)
        statements[sql] = made
        return made
    }
}

/// A document that matches a search.
package struct TextRow: Sendable {
    /// The document.
    package let id: DocumentID
    /// Its relevance; higher is better.
    package let score: Double
    /// A snippet for each column, with the markers of ``TextReader``; empty if not requested.
    var pieces: [String] = []
}
