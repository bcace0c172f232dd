internal import SettleCore
internal import SettleDatabase

/// Reads snapshots of an index.
final class IndexReader {
    private let connection: SQLiteConnection
    private var statements: [String: SQLiteStatement] = [:]
    /// SQLite's number of the state that the cached values belong to.
    private var version: Int64?
    /// The counts of views; `nil` for a view that is known to have too many chunks.
    private var counts: [Int: ChunkCounts?] = [:]
    private let mostCounts: Int
    private var lastChunk: (number: Int64, rows: RowChunk)?

    /// A chunk's entry in the directory.
    struct Entry {
        let first: [UInt8]
        let number: Int64
        let count: Int
        /// The packed reductions of its rows, a value for each reduce function.
        let reductions: [UInt8]
    }

    /// Opens an index.
    ///
    /// - Parameters:
    ///   - path: The path of its file.
    ///   - mostCounts: The maximum number of chunks for which the number of rows before them is cached; with more,
    ///     each query adds them up.
    /// - Throws: ``DatabaseError``.
    init(_ path: String, mostCounts: Int = ChunkCounts.most) throws {
        connection = try IndexFile.open(path, .views)
        self.mostCounts = mostCounts
    }

    /// Runs a closure on one snapshot.
    func snapshot<Result>(_ body: (IndexReader) throws -> Result) throws -> Result {
        try statement("BEGIN").run()
        defer { try? statement("COMMIT").run() }
        let current = try statement("PRAGMA data_version").first { $0.integer(0) }
        if current == nil || current != version { (version, counts, lastChunk) = (current, [:], nil) }
        return try body(self)
    }

    /// The last processed change of the index.
    func sequence() throws -> UpdateSequence {
        try IndexState.sequence(by: statement(IndexState.sequenceQuery))
    }

    /// The number of rows of a view.
    func count(_ view: Int) throws -> Int {
        if let counts = try counts(view) { return counts.total }
        let statement = try statement("SELECT total(count) FROM directory WHERE view = ?1")
        statement.bind(1, Int64(view))
        return Int(try statement.first { $0.integer(0) } ?? 0)
    }

    /// The number of rows of a view before a position.
    func count(_ view: Int, before position: [UInt8]) throws -> Int {
        if let counts = try counts(view) {
            guard let chunk = counts.chunk(before: position) else { return 0 }
            return chunk.before + (try rows(of: chunk.number)).index(of: position)
        }
        let statement = try statement("SELECT total(count) FROM directory WHERE view = ?1 AND first < ?2")
        statement.bind(1, Int64(view))
        statement.bind(2, position)
        let upTo = Int(try statement.first { $0.integer(0) } ?? 0)
        guard let last = try entries(view, below: position, limit: 1).first else { return 0 }
        return upTo - last.count + (try rows(of: last.number)).index(of: position)
    }

    private func counts(_ view: Int) throws -> ChunkCounts? {
        if let known = counts[view] { return known }
        let statement = try statement(
            "SELECT first, number, count FROM directory WHERE view = ?1 ORDER BY first LIMIT \(mostCounts + 1)")
        statement.bind(1, Int64(view))
        let made = try ChunkCounts(statement, most: mostCounts)
        counts.updateValue(made, forKey: view)
        return made
    }

    /// The number of rows in a range.
    func count(_ view: Int, in range: RowRange) throws -> Int {
        let upTo = try range.upper.map { try count(view, before: $0) } ?? count(view)
        let before = try range.lower.map { try count(view, before: $0) } ?? 0
        return max(upTo - before, 0)
    }

    /// The number of rows of a view before a range, in reading direction.
    func offset(_ view: Int, of range: RowRange) throws -> Int {
        guard range.descending else { return try range.lower.map { try count(view, before: $0) } ?? 0 }
        let all = try count(view)
        return try range.upper.map { all - (try count(view, before: $0)) } ?? 0
    }

    /// A chunk's rows, and the indexes of those in a range.
    func part(of entry: Entry, in range: RowRange) throws -> (RowChunk, Range<Int>) {
        let chunk = try rows(of: entry.number)
        let low = range.lower.map { chunk.index(of: $0) } ?? 0
        let high = range.upper.map { chunk.index(of: $0) } ?? chunk.count
        return (chunk, low..<max(low, high))
    }

    /// Calls a closure for each chunk that overlaps a range, in order, until it returns `false`.
    func forEachChunk(_ view: Int, in range: RowRange, _ body: (Entry) throws -> Bool) throws {
        if let lower = range.lower, let upper = range.upper, !RowPosition.isBefore(lower, upper) { return }
        var rest = range
        while true {
            let page = range.descending ? try entriesDown(view, rest) : try entriesUp(view, rest)
            guard let last = page.last else { return }
            for entry in page {
                guard try body(entry) else { return }
            }
            if range.descending, let lower = range.lower, !RowPosition.isBefore(lower, last.first) { return }
            if range.descending { rest.upper = last.first } else { rest.lower = last.first + [0] }
            rest.isResumed = true
        }
    }

    /// A chunk's rows.
    func rows(of number: Int64) throws -> RowChunk {
        if let lastChunk, lastChunk.number == number { return lastChunk.rows }
        let statement = try statement("SELECT rows FROM chunks WHERE number = ?1")
        statement.bind(1, number)
        guard let bytes = try statement.first({ $0.bytes(0) }) else {
            throw DatabaseError(.corrupt, "a part of an index is missing")
        }
        let rows = try RowChunk(bytes)
        lastChunk = (number, rows)
        return rows
    }

    private static let pageLength = 64

    private func entriesUp(_ view: Int, _ range: RowRange) throws -> [Entry] {
        var start = range.lower ?? []
        // The chunk that contains the start of the range begins before it.
        if !range.isResumed, range.lower != nil, let first = try entries(view, below: start + [0], limit: 1).first {
            start = first.first
        }
        let statement = try statement(
            """
            SELECT first, number, count, reductions FROM directory
            WHERE view = ?1 AND first >= ?2 AND (?3 IS NULL OR first < ?3) ORDER BY first LIMIT \(Self.pageLength)
            """)
        statement.bind(1, Int64(view))
        statement.bind(2, start)
        statement.bind(3, range.upper)
        return try statement.all(Self.entry)
    }

    private func entriesDown(_ view: Int, _ range: RowRange) throws -> [Entry] {
        let page = try entries(view, below: range.upper, limit: Self.pageLength)
        guard let lower = range.lower else { return page }
        // Of the chunks that begin before the range only the first can overlap it.
        let inside = page.prefix { !RowPosition.isBefore($0.first, lower) }
        guard inside.count < page.count else { return page }
        return Array(page.prefix(inside.count + 1))
    }

    /// The last chunks that begin below a position, in descending order.
    private func entries(_ view: Int, below position: [UInt8]?, limit: Int) throws -> [Entry] {
        let statement = try statement(
            """
            SELECT first, number, count, reductions FROM directory
            WHERE view = ?1 AND (?2 IS NULL OR first < ?2) ORDER BY first DESC LIMIT ?3
            """)
        statement.bind(1, Int64(view))
        statement.bind(2, position)
        statement.bind(3, Int64(limit))
        return try statement.all(Self.entry)
    }

    private static func entry(_ row: SQLiteStatement) -> Entry {
        Entry(first: row.bytes(0), number: row.integer(1), count: Int(row.integer(2)), reductions: row.bytes(3))
    }

    private func statement(_ sql: String) throws -> SQLiteStatement {
        if let known = statements[sql] { return known }
        let made = try SQLiteStatement(sql, on: connection)
        statements[sql] = made
        return made
    }
}
