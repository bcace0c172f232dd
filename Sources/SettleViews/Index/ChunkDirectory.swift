internal import SettleDatabase

/// The chunks of each view in order, with the number and the reductions of their rows, in levels.
///
/// Level 0 has an entry for each chunk. More than 128 entries of a level fall into ranges, each with an entry of the next level,
/// and so on. An entry begins at its first row, and ends where the next one of its level begins.
///
///     level 1    │ a: 7,210                       │ m: 6,904
///     level 0    │ a: 118 │ f: 113 │ … │ k: 120   │ m: 97 │ p: 121 │ …
///     chunks     │ a c e  │ f h    │ … │ k l      │ m n   │ p r s  │ …
///
/// The rows before a chunk are those of the entries before it in its range, then of the ranges before that one, level by level:
/// at most 128 entries of each level.
struct ChunkDirectory {
    let statements: IndexStatements
    var sizes = LevelSizes()

    /// Above all positions: a key does not begin with this byte.
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
    /// - Throws: ``DatabaseError`` with code `corrupt` when an entry has another number of rows than its range.
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

    /// The chunk with the row that has a number of others before it: where it begins and ends, and the number of rows before
    /// it and in it. `nil` after the last row.
    ///
    /// - Throws: ``DatabaseError`` with code `corrupt` when an entry has another number of rows than its range.
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
    /// The last entry of a level that begins at a position or before it.
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

    /// Where the entry after one begins.
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

    /// The number of rows of entries that begin in a range, and of those of them before a position.
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

/// How many entries a level of a directory has in one of the next.
struct LevelSizes {
    /// The most of them. A range with less than a quarter of this is joined with the next one.
    var most = 128
}
