internal import SettleDatabase

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

    /// Brings the levels above the chunks up to date, within a transaction.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - changed: Where the chunks begin that were written, and where those began that were removed.
    ///   - reducers: The reduce functions of the view.
    /// - Throws: ``DatabaseError``, or what a reducer throws.
    /// - Complexity: O(*m* log *n*) for *m* chunks.
    func update(_ view: Int, _ changed: [[UInt8]], by reducers: [any ViewReducer]) throws {
        var (level, changed) = (0, changed)
        while !changed.isEmpty {
            if try level >= top(view) && length(view, level) <= sizes.most { break }
            level += 1
            changed = try sum(view, level, changed, by: reducers)
        }
        // A single entry says nothing that those below it don't.
        while case let top = try top(view), top > 0, try length(view, top) <= 1 {
            try statements.prepared("DELETE FROM directory WHERE view = ?1 AND level = ?2", view, top).run()
        }
    }

    /// Makes the entries of a level anew in whose ranges entries of the level below have changed.
    ///
    /// - Returns: Where entries begin that were written, and where those began that were removed.
    private func sum(
        _ view: Int, _ level: Int, _ changed: [[UInt8]], by reducers: [any ViewReducer]
    ) throws -> [[UInt8]] {
        var rest = changed.sorted { RowPosition.isBefore($0, $1) }[...]
        var gone: [[UInt8]] = []
        var ranges: [[ReducedEntry]] = []
        while let first = rest.first {
            // Only what comes before all ranges is in none; the first one takes it.
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

    /// Divides too many entries into ranges of equal length, of about half the largest size.
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
        // As many at a time as fit into one request.
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
