internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Reads snapshots of an index.
final class IndexReader {
    private let statements: IndexStatements
    /// The chunks of each view.
    let directory: ChunkDirectory
    /// SQLite's version of the state to which the cached chunk belongs.
    private var version: Int64?
    private var lastChunk: (number: Int64, rows: RowChunk)?

    /// Opens an index.
    ///
    /// - Throws: ``DatabaseError``.
    init(_ path: String) throws {
        statements = IndexStatements(try IndexFile.open(path, .views))
        directory = ChunkDirectory(statements: statements)
    }

    /// Runs a closure on one snapshot.
    func snapshot<Result>(_ body: (IndexReader) throws -> Result) throws -> Result {
        try statements.prepared("BEGIN").run()
        defer { try? statements.prepared("COMMIT").run() }
        let current = try statements.prepared("PRAGMA data_version").first { $0.integer(0) }
        if current == nil || current != version { (version, lastChunk) = (current, nil) }
        return try body(self)
    }

    /// The last processed change of the index.
    func sequence() throws -> UpdateSequence {
        try IndexState.sequence(by: statements.prepared(IndexState.sequenceQuery))
    }

    /// The number of rows of a view.
    func count(_ view: Int) throws -> Int { try directory.count(view) }

    /// The number of rows of a view before a position.
    func count(_ view: Int, before position: [UInt8]) throws -> Int {
        guard let last = try entries(view, below: position, limit: 1).first else { return 0 }
        return try directory.count(view, before: last.first) + rows(of: last).index(of: position)
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

    /// Skips rows of a range in reading direction, as whole chunks if possible.
    ///
    /// - Returns: The rest of the range, starting with a chunk, and the number of rows to skip in that chunk; `nil`
    ///   if nothing remains.
    /// - Throws: ``DatabaseError``.
    /// - Complexity: O(log *n*).
    func skip(_ skip: Int, _ view: Int, in range: RowRange) throws -> (rest: RowRange, skip: Int)? {
        var rest = range
        if range.descending {
            let upTo = try range.upper.map { try count(view, before: $0) } ?? count(view)
            guard skip < upTo, let chunk = try directory.chunk(view, at: upTo - 1 - skip) else { return nil }
            let isFirst = chunk.before + chunk.count >= upTo
            if isFirst { return (range, skip) }
            rest.upper = chunk.range.next
            return (rest, skip - (upTo - chunk.before - chunk.count))
        }
        let before = try range.lower.map { try count(view, before: $0) } ?? 0
        guard skip < .max - before, let chunk = try directory.chunk(view, at: before + skip) else { return nil }
        if chunk.before <= before { return (range, skip) }
        rest.lower = chunk.range.first
        return (rest, before + skip - chunk.before)
    }

    /// A chunk's rows, and the indexes of those in a range.
    func part(of entry: DirectoryEntry, in range: RowRange) throws -> (RowChunk, Range<Int>) {
        let chunk = try rows(of: entry)
        let low = range.lower.map { chunk.index(of: $0) } ?? 0
        let high = range.upper.map { chunk.index(of: $0) } ?? chunk.count
        return (chunk, low..<max(low, high))
    }

    /// Calls a closure for each chunk that overlaps a range, in order, until it returns `false`.
    func forEachChunk(_ view: Int, in range: RowRange, _ body: (DirectoryEntry) throws -> Bool) throws {
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
    private func rows(of entry: DirectoryEntry) throws -> RowChunk {
        if let lastChunk, lastChunk.number == entry.number { return lastChunk.rows }
        let statement = try statements.prepared("SELECT rows FROM chunks WHERE number = ?1")
        statement.bind(1, entry.number)
        guard let bytes = try statement.first({ $0.bytes(0) }) else {
            throw DatabaseError(.corrupt, "a part of an index is missing")
        }
        let rows = try RowChunk(bytes)
        guard rows.count == entry.count else { throw ChunkDirectory.damage }
        lastChunk = (entry.number, rows)
        return rows
    }

    private static let pageLength = 64

    private func entriesUp(_ view: Int, _ range: RowRange) throws -> [DirectoryEntry] {
        var start = range.lower ?? []
        // The chunk that contains the start of the range begins before it.
        if !range.isResumed, range.lower != nil, let first = try entries(view, below: start + [0], limit: 1).first {
            start = first.first
        }
        let statement = try statements.prepared(
            """
            SELECT first, number, count FROM directory
            WHERE view = ?1 AND level = 0 AND first >= ?2 AND first < ?3 ORDER BY first LIMIT \(Self.pageLength)
            """)
        statement.bind(1, Int64(view))
        statement.bind(2, start)
        statement.bind(3, range.upper ?? ChunkDirectory.end)
        return try statement.all { DirectoryEntry($0) }
    }

    private func entriesDown(_ view: Int, _ range: RowRange) throws -> [DirectoryEntry] {
        let page = try entries(view, below: range.upper, limit: Self.pageLength)
        guard let lower = range.lower else { return page }
        // Only the first of the chunks that begin before the range can overlap it.
        let inside = page.prefix { !RowPosition.isBefore($0.first, lower) }
        guard inside.count < page.count else { return page }
        return Array(page.prefix(inside.count + 1))
    }

    /// The last chunks that begin below a position, in descending order.
    private func entries(_ view: Int, below position: [UInt8]?, limit: Int) throws -> [DirectoryEntry] {
        let statement = try statements.prepared(
            """
            SELECT first, number, count FROM directory
            WHERE view = ?1 AND level = 0 AND first < ?2 ORDER BY first DESC LIMIT ?3
            """)
        statement.bind(1, Int64(view))
        statement.bind(2, position ?? ChunkDirectory.end)
        statement.bind(3, Int64(limit))
        return try statement.all { DirectoryEntry($0) }
    }
}

// MARK: - IndexReaderPool

/// The unused readers of an index file, each with its own connection.
final class IndexReaderPool<Reader>: Sendable {
    private struct State {
        var readers: [Lent<Reader>] = []
        /// The number of times that the pool was cleared. Readers lent before that are not kept.
        var round = 0
    }

    private let state = Guarded(State())

    /// The number of readers kept.
    private static var most: Int { 4 }

    private let make: @Sendable () throws -> Reader

    init(_ make: @escaping @Sendable () throws -> Reader) { self.make = make }

    /// Lends a free reader, or a new one if none is free. A reader that failed is not reused.
    func withReader<Result>(_ body: (Reader) throws -> Result) throws -> Result {
        let (free, round) = dequeueFree()
        return try lend(try free ?? Lent(make()), round, body)
    }

    /// Lends a free reader.
    ///
    /// - Throws: Errors of the closure; ``NotAtHand`` if no reader is free.
    func withFreeReader<Result>(_ body: (Reader) throws -> Result) throws -> Result {
        guard case (let free?, let round) = dequeueFree() else { throw NotAtHand() }
        return try lend(free, round, body)
    }

    private func dequeueFree() -> (reader: Lent<Reader>?, round: Int) {
        state.withLock { ($0.readers.popLast(), $0.round) }
    }

    private func lend<Result>(_ reader: Lent<Reader>, _ round: Int, _ body: (Reader) throws -> Result) throws -> Result
    {
        let result: Result
        do { result = try body(reader.value) } catch let error as NotAtHand {
            keep(reader, round)
            throw error
        }
        keep(reader, round)
        return result
    }

    private func keep(_ reader: Lent<Reader>, _ round: Int) {
        state.withLock { if $0.round == round, $0.readers.count < Self.most { $0.readers.append(reader) } }
    }

    /// Closes all readers that are not in use, and those in use when they are returned.
    func clear() {
        let closed = state.withLock { state in
            defer {
                state.readers = []
                state.round += 1
            }
            return state.readers
        }
        withExtendedLifetime(closed) {}
    }
}
