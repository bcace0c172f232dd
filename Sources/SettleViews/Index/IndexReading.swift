import SettleCore
package import SettleDatabase
internal import SettleQuery

/// One snapshot of an index, valid while a closure reads it.
package struct IndexReading {
    let reader: IndexReader
    let definitions: [ViewDefinition]
    /// The last processed change of the index.
    package let sequence: UpdateSequence

    /// The number of rows of a view.
    package func count(_ view: Int) throws -> Int { try reader.count(view) }

    /// The number of rows of a view in a range.
    package func count(_ view: Int, in range: RowRange) throws -> Int { try reader.count(view, in: range) }

    /// The number of rows before a range, in reading direction.
    package func offset(_ view: Int, of range: RowRange) throws -> Int { try reader.offset(view, of: range) }

    /// Rows of a range, in order.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - range: The range of rows.
    ///   - skip: The number of rows to skip.
    ///   - limit: The maximum number of rows.
    /// - Returns: The rows.
    /// - Throws: ``DatabaseError``.
    package func rows(_ view: Int, in range: RowRange, skip: Int = 0, limit: Int = .max) throws -> [IndexRow] {
        var rows: [IndexRow] = []
        try forEachPart(view, in: range, skip: skip, limit: limit) { chunk, order in
            rows += chunk.indexRows(order)
            return true
        }
        return rows
    }

    /// A row inside its chunk.
    package struct RawRow {
        /// The key, as JSON text.
        package let key: UnsafeBufferPointer<UInt8>
        /// The id of the document that emitted it.
        package let id: UnsafeBufferPointer<UInt8>
        /// The value, as JSON text.
        package let value: UnsafeBufferPointer<UInt8>
    }

    /// Calls a closure for rows of a range, in order, without copying them.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - range: The range of rows.
    ///   - skip: The number of rows to skip.
    ///   - limit: The maximum number of rows.
    ///   - body: Called with each row; returns whether to continue. In descending order, it is always called with
    ///     all rows of the same document and key.
    /// - Returns: The number of rows, and the remaining range; `nil` if nothing remains.
    /// - Throws: ``DatabaseError``, or errors of the closure.
    package func forEachRow(
        _ view: Int, in range: RowRange, skip: Int, limit: Int, _ body: (RawRow) throws -> Bool
    ) throws -> (count: Int, rest: RowRange?) {
        var count = 0
        var rest: RowRange?
        try forEachPart(view, in: range, skip: skip, limit: limit) { chunk, order in
            try chunk.bytes.withUnsafeBufferPointer { bytes in
                for (place, index) in zip(order.indices, order) {
                    let row = chunk.rows[index]
                    count += 1
                    let wantsMore = try body(
                        RawRow(
                            key: UnsafeBufferPointer(rebasing: bytes[row.key]),
                            id: UnsafeBufferPointer(rebasing: bytes[row.id]),
                            value: UnsafeBufferPointer(rebasing: bytes[row.value])))
                    if wantsMore { continue }
                    // In descending order all rows of one document and key are passed together, because the
                    // remaining range is below them.
                    let isWithin = range.descending && place + 1 < order.endIndex && order[place + 1] == index + 1
                    if isWithin { continue }
                    let last = range.descending ? chunk.start(ofGroupAt: index) : index
                    rest = range.after(Array(chunk.position(last)))
                    return false
                }
                return true
            }
        }
        return (count, rest)
    }

    /// Calls a closure for the chunks of a range with the wanted rows of each, in order, until it returns `false`.
    private func forEachPart(
        _ view: Int, in range: RowRange, skip: Int, limit: Int, _ body: (RowChunk, ArraySlice<Int>) throws -> Bool
    ) throws {
        guard limit > 0 else { return }
        var (left, toSkip, rest) = (limit, skip, range)
        if skip > 0 {
            guard let place = try reader.skip(skip, view, in: range) else { return }
            (rest, toSkip) = place
        }
        try reader.forEachChunk(view, in: rest) { entry in
            let (chunk, part) = try reader.part(of: entry, in: rest)
            guard toSkip < part.count else {
                toSkip -= part.count
                return true
            }
            let some = chunk.order(of: part, descending: range.descending).dropFirst(toSkip).prefix(left)
            toSkip = 0
            left -= some.count
            return try body(chunk, some) && left > 0
        }
    }
}

// MARK: - Groups

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
    /// Chunks completely inside one group are not read: the directory has their reductions, and those of ranges of
    /// chunks.
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
    /// - Throws: ``DatabaseError``, or errors of the reducer.
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

// MARK: - GroupLevel

/// The rows that are reduced to one value.
package enum GroupLevel: Hashable, Sendable {
    /// All rows.
    case none
    /// Rows with the same key.
    case exact
    /// Rows whose keys are arrays with the same first elements, and rows with the same key.
    case elements(Int)

    /// The part of a position that all rows of its group share.
    func prefix(of position: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        switch self {
        case .none: position.prefix(0)
        case .exact: position[..<SortKey.end(of: position)]
        case .elements(let count): position[..<SortKey.end(of: position, elements: count)]
        }
    }

    /// The key of a group, from one of its rows.
    func shown(_ key: ArraySlice<UInt8>) -> [UInt8] {
        guard case .elements(let count) = self, key.first == UInt8(ascii: "["),
            let elements = (try? JSONValue(utf8: Array(key)))?.array, elements.count > count
        else { return self == .none ? JSONValue.null.utf8 : Array(key) }
        return JSONValue.array(Array(elements.prefix(count))).utf8
    }
}

// MARK: - ReducedGroup

/// A key and the reduced value of its rows.
package struct ReducedGroup: Sendable {
    /// The key, as JSON text.
    package let key: [UInt8]
    /// The value, as JSON text.
    package let value: [UInt8]
}
