import SettleCore
package import SettleDatabase

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
        /// The id of the document it was emitted for.
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
    ///   - body: Called with each row; returns whether to continue. When descending, it is called with all rows of
    ///     the same document and key in any case.
    /// - Returns: The number of rows, and the remaining range; `nil` if nothing remains.
    /// - Throws: ``DatabaseError``, or what the closure throws.
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
                    // When descending, all rows of one document and key are passed together, because the rest of the
                    // range is below them.
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
