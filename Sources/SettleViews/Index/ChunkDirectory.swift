internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The directory of each view's chunks in order, with the number and the reductions of their rows, in levels.
///
/// Level 0 has an entry for each chunk. If a level has more than 128 entries, they are divided into ranges, each
/// with an entry on the next level, and so on. An entry begins at its first row, and ends where the next entry of
/// its level begins.
///
///     level 1    │ a: 7,210                       │ m: 6,904
///     level 0    │ a: 118 │ f: 113 │ … │ k: 120   │ m: 97 │ p: 121 │ …
///     chunks     │ a c e  │ f h    │ … │ k l      │ m n   │ p r s  │ …
///
/// The number of rows before a chunk is the sum of the entries before it in its range, then of the ranges before
/// that one, level by level: at most 128 entries of each level.
struct ChunkDirectory {
    let statements: IndexStatements
    var sizes = LevelSizes()

    /// A position after all others, because no key begins with this byte.
    static let end: [UInt8] = [0xFF]

    /// An entry with its reductions.
    typealias ReducedEntry = (entry: DirectoryEntry, reductions: PackedReductions)

    /// The highest level of a view.
    func top(_ view: Int) throws -> Int {
        let statement = try statements.prepared("SELECT max(level) FROM directory WHERE view = ?1")
        statement.bind(1, Int64(view))
        return Int(clamping: try statement.first { $0.integer(0) } ?? 0)
    }

    /// The number of rows of a view.
    ///
    /// - Complexity: O(log *n*).
    func count(_ view: Int) throws -> Int { try total(view, top(view), from: [], to: Self.end).all }

    /// The number of rows before the chunk that begins at a position.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` if the number of rows in an entry differs from that of its
    ///   range.
    /// - Complexity: O(log *n*).
    func count(_ view: Int, before first: [UInt8]) throws -> Int {
        let top = try top(view)
        var (sum, place) = (0, first)
        for level in 0..<top {
            guard let above = try last(view, level + 1, upTo: place) else { throw Self.damage }
            let next = try start(view, level + 1, after: above.first)
            let total = try total(view, level, from: above.first, to: next, split: place)
            guard total.all == above.count else { throw Self.damage }
            sum += total.before
            place = above.first
        }
        return try sum + total(view, top, from: [], to: place).all
    }

    /// The chunk that contains the row with a given number: its beginning and end, and the numbers of rows before
    /// it and in it. `nil` after the last row.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` if the number of rows in an entry differs from that of its
    ///   range.
    /// - Complexity: O(log *n*).
    func chunk(_ view: Int, at rank: Int) throws -> (range: (first: [UInt8], next: [UInt8]), before: Int, count: Int)? {
        let top = try top(view)
        var (from, to, before, size) = ([UInt8](), Self.end, 0, 0)
        for level in (0...top).reversed() {
            let entries = try entries(view, level, from: from, to: to)
            guard level == top || entries.reduce(0, { $0 + $1.count }) == size else { throw Self.damage }
            guard
                let index = entries.firstIndex(where: { entry in
                    guard rank >= before + entry.count else { return true }
                    before += entry.count
                    return false
                })
            else { return nil }
            if index + 1 < entries.count { to = entries[index + 1].first }
            (from, size) = (entries[index].first, entries[index].count)
        }
        return ((from, to), before, size)
    }

    static var damage: DatabaseError { DatabaseError(.corrupt, "the counts of an index differ from its rows") }
}

extension ChunkDirectory {
    /// The last entry of a level that begins at or before a position.
    func last(_ view: Int, _ level: Int, upTo place: [UInt8]) throws -> DirectoryEntry? {
        try statements.prepared(
            """
            SELECT first, number, count FROM directory WHERE view = ?1 AND level = ?2 AND first <= ?3
            ORDER BY first DESC LIMIT 1
            """, view, level, place
        ).first(DirectoryEntry.init)
    }

    /// The first entry of a level that begins after a position.
    func next(_ view: Int, _ level: Int, after place: [UInt8]) throws -> DirectoryEntry? {
        try statements.prepared(
            """
            SELECT first, number, count FROM directory WHERE view = ?1 AND level = ?2 AND first > ?3
            ORDER BY first LIMIT 1
            """, view, level, place
        ).first(DirectoryEntry.init)
    }

    /// The beginning of the next entry after a position.
    func start(_ view: Int, _ level: Int, after place: [UInt8]) throws -> [UInt8] {
        try next(view, level, after: place)?.first ?? Self.end
    }

    /// The entries of a level that begin in a range, in order.
    func entries(_ view: Int, _ level: Int, from start: [UInt8], to end: [UInt8]) throws -> [DirectoryEntry] {
        try statements.prepared(
            """
            SELECT first, number, count FROM directory WHERE view = ?1 AND level = ?2 AND first >= ?3 AND first < ?4
            ORDER BY first
            """, view, level, start, end
        ).all { DirectoryEntry($0) }
    }

    /// The same with their reductions.
    func reducedEntries(_ view: Int, _ level: Int, from start: [UInt8], to end: [UInt8]) throws -> [ReducedEntry] {
        try statements.prepared(
            """
            SELECT first, number, count, reductions FROM directory
            WHERE view = ?1 AND level = ?2 AND first >= ?3 AND first < ?4 ORDER BY first
            """, view, level, start, end
        ).all { (DirectoryEntry($0), PackedReductions($0.bytes(3))) }
    }

    /// The number of rows in the entries that begin in a range, and in those of them before a position.
    private func total(
        _ view: Int, _ level: Int, from start: [UInt8], to end: [UInt8], split: [UInt8] = []
    ) throws -> (all: Int, before: Int) {
        try statements.prepared(
            """
            SELECT total(count), total(CASE WHEN first < ?5 THEN count END) FROM directory
            WHERE view = ?1 AND level = ?2 AND first >= ?3 AND first < ?4
            """, view, level, start, end, split
        ).first { (DirectoryEntry.count($0, 0), DirectoryEntry.count($0, 1)) } ?? (0, 0)
    }
}

/// The limits on the number of entries in a range.
struct LevelSizes {
    /// The maximum. A range with less than a quarter of this is joined with the next one.
    var most = 128
}

// MARK: - Parts

extension ChunkDirectory {
    /// An entry that overlaps a range of rows.
    struct Part {
        let entry: DirectoryEntry
        let reductions: PackedReductions
        /// Whether it is a chunk, rather than a range of entries.
        let isChunk: Bool
        /// The beginning of the next entry.
        let next: [UInt8]
        /// Whether all its rows are in the range.
        let isWhole: Bool

        /// Whether the positions of all its rows begin with a prefix.
        func isWithin(_ prefix: [UInt8]) -> Bool { entry.first.starts(with: prefix) && next.starts(with: prefix) }
    }

    /// How to continue after a part of a range.
    enum Step {
        case onward
        /// With the entries of the level below.
        case inside
        case stop
    }

    /// Calls a closure for entries that overlap a range, in order, from the highest level down.
    ///
    /// - Throws: ``DatabaseError``, with code `corrupt` if the number of rows in an entry differs from that of its
    ///   range; errors of the closure.
    func forEachPart(_ view: Int, in range: RowRange, _ body: (Part) throws -> Step) throws {
        if let lower = range.lower, let upper = range.upper, !RowPosition.isBefore(lower, upper) { return }
        _ = try visit(view, top(view), from: [], to: Self.end, size: nil, range, body)
    }

    private func visit(
        _ view: Int, _ level: Int, from start: [UInt8], to end: [UInt8], size: Int?, _ range: RowRange,
        _ body: (Part) throws -> Step
    ) throws -> Bool {
        let entries = try reducedEntries(view, level, from: start, to: end)
        guard size.map({ size in entries.reduce(0) { $0 + $1.entry.count } == size }) ?? true else {
            throw Self.damage
        }
        for place in entries.indices {
            let index = range.descending ? entries.count - 1 - place : place
            let (entry, reductions) = entries[index]
            let next = index + 1 < entries.count ? entries[index + 1].entry.first : end
            if let lower = range.lower, !RowPosition.isBefore(lower, next) { continue }
            if let upper = range.upper, !RowPosition.isBefore(entry.first, upper) { continue }
            let isWhole =
                range.lower.map { !RowPosition.isBefore(entry.first, $0) } ?? true
                && range.upper.map { !RowPosition.isBefore($0, next) } ?? true
            let part = Part(
                entry: entry, reductions: reductions, isChunk: level == 0, next: next, isWhole: isWhole)
            switch try body(part) {
            case .onward: continue
            case .stop: return false
            case .inside:
                guard level > 0,
                    try visit(view, level - 1, from: entry.first, to: next, size: entry.count, range, body)
                else { return false }
            }
        }
        return true
    }
}

// MARK: - Update

extension ChunkDirectory {
    /// Writes an entry.
    func put(_ view: Int, _ level: Int, _ entry: DirectoryEntry, _ reductions: PackedReductions) throws {
        let statement = try statements.prepared(
            """
            INSERT OR REPLACE INTO directory(view, level, first, number, count, reductions)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6)
            """, view, level, entry.first)
        statement.bind(4, entry.number)
        statement.bind(5, Int64(entry.count))
        statement.bind(6, reductions.bytes)
        try statement.run()
    }

    /// Removes the entry that begins at a position.
    func remove(_ view: Int, _ level: Int, _ first: [UInt8]) throws {
        try statements.prepared(
            "DELETE FROM directory WHERE view = ?1 AND level = ?2 AND first = ?3", view, level, first
        ).run()
    }

    /// Updates the levels above the chunks, within a transaction.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - changed: The beginnings of the chunks that were written or removed.
    ///   - reducers: The reduce functions of the view.
    /// - Throws: ``DatabaseError``, or errors of a reducer.
    /// - Complexity: O(*m* log *n*) for *m* chunks.
    func update(_ view: Int, _ changed: [[UInt8]], by reducers: [any ViewReducer]) throws {
        var (level, changed) = (0, changed)
        while !changed.isEmpty {
            if try level >= top(view) && length(view, level) <= sizes.most { break }
            level += 1
            changed = try sum(view, level, changed, by: reducers)
        }
        // A single entry tells no more than the entries below it.
        while case let top = try top(view), top > 0, try length(view, top) <= 1 {
            try statements.prepared("DELETE FROM directory WHERE view = ?1 AND level = ?2", view, top).run()
        }
    }

    /// Rebuilds the entries of a level for ranges in which entries of the level below have changed.
    ///
    /// - Returns: The beginnings of the entries that were written or removed.
    private func sum(
        _ view: Int, _ level: Int, _ changed: [[UInt8]], by reducers: [any ViewReducer]
    ) throws -> [[UInt8]] {
        var rest = changed.sorted { RowPosition.isBefore($0, $1) }[...]
        var gone: [[UInt8]] = []
        var ranges: [[ReducedEntry]] = []
        while let first = rest.first {
            // Only positions before all ranges belong to none; the first range includes them.
            let range = try last(view, level, upTo: first) ?? next(view, level, after: first)
            let start = range.map { RowPosition.isBefore(first, $0.first) ? [] : $0.first } ?? []
            var end = try range.map { try self.start(view, level, after: $0.first) } ?? Self.end
            var parts = try reducedEntries(view, level - 1, from: start, to: end)
            if let range { gone.append(range.first) }
            while !parts.isEmpty, parts.count < sizes.most / 4, end != Self.end {
                let following = end
                end = try self.start(view, level, after: following)
                parts += try reducedEntries(view, level - 1, from: following, to: end)
                gone.append(following)
            }
            rest = rest.drop { RowPosition.isBefore($0, end) }
            ranges += split(parts)
        }
        for first in gone { try remove(view, level, first) }
        let reductions = try reduce(ranges, by: reducers)
        for (range, reductions) in zip(ranges, reductions) {
            let count = range.reduce(0) { $0 + $1.entry.count }
            try put(view, level, DirectoryEntry(first: range[0].entry.first, count: count), reductions)
        }
        return gone + ranges.map { $0[0].entry.first }
    }

    /// Divides entries into ranges of equal length, about half of the maximum.
    private func split(_ entries: [ReducedEntry]) -> [[ReducedEntry]] {
        let pieces = entries.count <= sizes.most ? min(entries.count, 1) : entries.count * 2 / sizes.most
        return (0..<pieces).map { piece in
            Array(entries[entries.count * piece / pieces..<entries.count * (piece + 1) / pieces])
        }
    }

    /// Reduces the values of each range by all reduce functions.
    private func reduce(_ ranges: [[ReducedEntry]], by reducers: [any ViewReducer]) throws -> [PackedReductions] {
        var packed = [PackedReductions](repeating: PackedReductions(), count: ranges.count)
        guard !reducers.isEmpty else { return packed }
        // In batches that fit into one request.
        for start in stride(from: 0, to: ranges.count, by: 16) {
            let some = start..<min(start + 16, ranges.count)
            for (number, reducer) in reducers.enumerated() {
                let values =
                    reducer is CountReducer
                    ? some.map { CountReducer.value(ranges[$0].reduce(0) { $0 + $1.entry.count }) }
                    : try reducer.rereduce(some.map { try ranges[$0].map { try $0.reductions.value(number) } })
                for (index, value) in zip(some, values) { packed[index].append(value) }
            }
        }
        return packed
    }

    /// The number of entries of a level.
    private func length(_ view: Int, _ level: Int) throws -> Int {
        try statements.prepared("SELECT count(*) FROM directory WHERE view = ?1 AND level = ?2", view, level)
            .first { Int($0.integer(0)) } ?? 0
    }
}

// MARK: - DirectoryEntry

/// An entry of a view's directory: a chunk or, on an upper level, a range of entries of the level below.
struct DirectoryEntry {
    /// The position of its first row.
    let first: [UInt8]
    /// The chunk's number; 0 on upper levels.
    let number: Int64
    /// The number of its rows.
    let count: Int

    init(first: [UInt8], number: Int64 = 0, count: Int) {
        (self.first, self.number, self.count) = (first, number, count)
    }

    /// Reads the columns `first`, `number` and `count`.
    init(_ row: SQLiteStatement) {
        self.init(first: row.bytes(0), number: row.integer(1), count: Self.count(row, 2))
    }

    /// Reads a number of rows. A damaged number is clamped, so that sums do not overflow.
    static func count(_ row: SQLiteStatement, _ column: Int32) -> Int {
        Int(min(max(row.integer(column), 0), 1 << 48))
    }
}

// MARK: - PackedReductions

/// The values of a view's reduce functions for the rows of an entry, each after its length.
struct PackedReductions {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ value: [UInt8]) {
        VariableNumber.append(value.count, to: &bytes)
        bytes += value
    }

    /// The value of the function with a number.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` if the function has no value.
    func value(_ number: Int) throws -> [UInt8] {
        let value = bytes.withUnsafeBytes { raw -> [UInt8]? in
            var place = 0
            for current in 0...number {
                guard let length = VariableNumber.readLength(raw, &place) else { return nil }
                if current == number { return Array(raw[place..<place + length]) }
                place += length
            }
            return nil
        }
        guard let value else { throw DatabaseError(.corrupt, "a part of an index can't be read") }
        return value
    }
}

extension PackedReductions {
    init(_ bytes: [UInt8]) { self.bytes = bytes }
}
