import SettleCore
import SettleDatabase
internal import SettlePlatform

extension IndexReading {
    /// A group whose rows are being collected.
    private struct Group {
        let prefix: [UInt8]
        let key: [UInt8]
        var rows: [IndexRow] = []
        var values: [[UInt8]] = []
    }

    /// The number of groups that are reduced at a time.
    private static let groupsAtOnce = 200

    /// Reduces the rows of a range, group by group.
    ///
    /// Chunks completely inside one group are not read: the directory has their reductions.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - reducer: The number of the reduce function.
    ///   - range: The range of rows.
    ///   - level: The rows that form a group.
    ///   - skip: The number of groups to skip.
    ///   - limit: The maximum number of groups.
    /// - Returns: Some groups in order, the remaining range, `nil` if nothing remains, and the number of skipped
    ///   groups.
    /// - Throws: ``DatabaseError``, or what the reducer throws.
    package func groups(
        _ view: Int, by reducer: Int, in range: RowRange, level: GroupLevel, skip: Int = 0, limit: Int = .max
    ) throws -> (groups: [ReducedGroup], rest: RowRange?, skipped: Int) {
        guard limit > 0 else { return ([], nil, 0) }
        var closed: [Group] = []
        var open: Group?
        var skipped = 0
        /// Ends the open group; returns `false` when there are enough groups.
        func close() -> Bool {
            guard let group = open else { return true }
            open = nil
            if skipped < skip { skipped += 1 } else { closed.append(group) }
            return closed.count < min(limit, Self.groupsAtOnce)
        }
        try forEachPart(view, in: range) { part in
            if let group = open, part.isWhole, part.isWithin(group.prefix) {
                open?.values.append(try value(reducer, of: part.entry, in: view))
                return true
            }
            if level == .none, part.isWhole {
                if open == nil { open = Group(prefix: [], key: JSON.null.utf8) }
                open?.values.append(try value(reducer, of: part.entry, in: view))
                return true
            }
            let (chunk, rows) = try reader.part(of: part.entry, in: range)
            for row in range.descending ? chunk.indexRows(rows).reversed() : chunk.indexRows(rows) {
                if let group = open, !row.position.starts(with: group.prefix) {
                    guard close() else { return false }
                }
                if open == nil {
                    open = Group(prefix: Array(level.prefix(of: row.position)), key: level.shown(row.key))
                }
                open?.rows.append(row)
            }
            return true
        }
        // The open group is complete only if the whole range was read.
        let isFull = closed.count >= min(limit, Self.groupsAtOnce)
        if !isFull { _ = close() }
        var rest: RowRange?
        if isFull, closed.count < limit, let last = closed.last {
            var following = range
            if range.descending { following.upper = last.prefix } else { following.lower = last.prefix + [0xFF] }
            rest = following
        }
        return (try reduced(closed, by: definitions[view].reducers[reducer]), rest, skipped)
    }

    private func reduced(_ groups: [Group], by reducer: any ViewReducer) throws -> [ReducedGroup] {
        guard !groups.isEmpty else { return [] }
        let withRows = groups.indices.filter { !groups[$0].rows.isEmpty }
        var values = groups.map(\.values)
        for (index, value) in zip(withRows, try reducer.reduce(withRows.map { groups[$0].rows })) {
            values[index].append(value)
        }
        return try zip(groups, try reducer.rereduce(values)).map { group, value in
            ReducedGroup(key: group.key, value: try reducer.finish(value))
        }
    }

    /// The reduction of a chunk's rows.
    private func value(_ reducer: Int, of entry: IndexReader.Entry, in view: Int) throws -> [UInt8] {
        // Earlier versions stored no reductions for the rows of query indexes.
        if definitions[view].reducers[reducer] is CountReducer { return Array(String(entry.count).utf8) }
        let value = entry.reductions.withUnsafeBytes { raw -> [UInt8]? in
            var place = 0
            for number in 0...reducer {
                guard let length = VariableNumber.readLength(raw, &place) else { return nil }
                if number == reducer { return Array(raw[place..<place + length]) }
                place += length
            }
            return nil
        }
        guard let value else { throw DatabaseError(.corrupt, "a part of an index can't be read") }
        return value
    }

    /// A chunk of a range.
    private struct Part {
        let entry: IndexReader.Entry
        /// Whether all its rows are in the range.
        let isWhole: Bool
        /// Where the next chunk upward begins; `nil` if it is not known to be in the range.
        let next: [UInt8]?

        /// Whether all rows belong to a group, given that the previous rows in reading direction do.
        func isWithin(_ prefix: [UInt8]) -> Bool {
            entry.first.starts(with: prefix) && (next?.starts(with: prefix) ?? false)
        }
    }

    /// Calls a closure for each chunk that overlaps a range, once it is known whether the chunk is completely inside.
    private func forEachPart(_ view: Int, in range: RowRange, _ body: (Part) throws -> Bool) throws {
        func isInside(_ entry: IndexReader.Entry) -> Bool {
            range.lower.map { !RowPosition.isBefore(entry.first, $0) } ?? true
        }
        // The beginning of the next higher chunk, in row order.
        var above: [UInt8]?
        var waiting: IndexReader.Entry?
        var goesOn = true
        try reader.forEachChunk(view, in: range) { entry in
            if range.descending {
                let isWhole = isInside(entry) && (above != nil || range.upper == nil)
                goesOn = try body(Part(entry: entry, isWhole: isWhole, next: above))
                above = entry.first
                return goesOn
            }
            if let last = waiting {
                goesOn = try body(Part(entry: last, isWhole: isInside(last), next: entry.first))
            }
            waiting = entry
            return goesOn
        }
        if goesOn, let last = waiting {
            _ = try body(Part(entry: last, isWhole: isInside(last) && range.upper == nil, next: nil))
        }
    }
}
