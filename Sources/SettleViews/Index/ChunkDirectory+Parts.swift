internal import SettleDatabase

extension ChunkDirectory {
    /// An entry that overlaps a range of rows.
    struct Part {
        let entry: DirectoryEntry
        let reductions: PackedReductions
        /// Whether it is a chunk, rather than a range of entries.
        let isChunk: Bool
        /// Where the next entry upward begins.
        let next: [UInt8]
        /// Whether all its rows are in the range.
        let isWhole: Bool

        /// Whether all its rows have positions with a beginning.
        func isWithin(_ prefix: [UInt8]) -> Bool { entry.first.starts(with: prefix) && next.starts(with: prefix) }
    }

    /// How to go on after a part of a range.
    enum Step {
        case onward
        /// To the entries of the level below.
        case inside
        case stop
    }

    /// Calls a closure for entries that overlap a range, in order, from the highest level down.
    ///
    /// - Throws: ``DatabaseError``, with code `corrupt` when an entry has another number of rows than its range; what the
    ///   closure throws.
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
