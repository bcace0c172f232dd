import SettleCore
import SettleDatabase

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
    /// Chunks completely inside one group are not read: the directory has their reductions, and those of ranges of chunks.
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
        try reader.directory.forEachPart(view, in: range) { part in
            if part.isWhole, level == .none || open.map({ part.isWithin($0.prefix) }) ?? false {
                if open == nil { open = Group(prefix: [], key: JSONValue.null.utf8) }
                open?.values.append(try value(reducer, of: part, in: view))
                return .onward
            }
            guard part.isChunk else { return .inside }
            let (chunk, rows) = try reader.part(of: part.entry, in: range)
            for row in range.descending ? chunk.indexRows(rows).reversed() : chunk.indexRows(rows) {
                if let group = open, !row.position.starts(with: group.prefix) {
                    guard close() else { return .stop }
                }
                if open == nil {
                    open = Group(prefix: Array(level.prefix(of: row.position)), key: level.shown(row.key))
                }
                open?.rows.append(row)
            }
            return .onward
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

    /// The reduction of a part's rows.
    private func value(_ reducer: Int, of part: ChunkDirectory.Part, in view: Int) throws -> [UInt8] {
        // A query index has rows and counts, but no reductions.
        if definitions[view].reducers[reducer] is CountReducer { return CountReducer.value(part.entry.count) }
        return try part.reductions.value(reducer)
    }
}
