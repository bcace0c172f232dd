package import RevisionTree
package import SettleDatabase

/// One state of an index, for as long as a closure reads it.
package struct IndexReading {
    let reader: IndexReader
    let definitions: [ViewDefinition]
    /// The last change of the database that is in it.
    package let sequence: UpdateSequence

    /// How many rows a view has.
    package func count(_ view: Int) throws -> Int { try reader.count(view) }

    /// How many rows of a view are in a range.
    package func count(_ view: Int, in range: RowRange) throws -> Int { try reader.count(view, in: range) }

    /// How many rows stand before a range, in the direction it is read.
    package func offset(_ view: Int, of range: RowRange) throws -> Int { try reader.offset(view, of: range) }

    /// Rows of a range, in order.
    ///
    /// - Parameters:
    ///   - view: The view.
    ///   - range: Which rows.
    ///   - skip: How many of them to pass over.
    ///   - limit: How many at the most.
    /// - Returns: The rows.
    /// - Throws: ``DatabaseError``.
    package func rows(_ view: Int, in range: RowRange, skip: Int = 0, limit: Int = .max) throws -> [IndexRow] {
        var rows: [IndexRow] = []
        try forEachPart(view, in: range, skip: skip, limit: limit) { chunk, part in
            let found = chunk.indexRows(part)
            rows += range.descending ? found.reversed() : found
            return true
        }
        return rows
    }

    /// A row while its chunk is looked at.
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
    ///   - range: Which rows.
    ///   - skip: How many of them to pass over.
    ///   - limit: How many at the most.
    ///   - body: Gets the rows, and says whether it wants more.
    /// - Returns: How many rows there were, and the range of those that follow; `nil` when there are none.
    /// - Throws: ``DatabaseError``, or what the closure throws.
    package func forEachRow(
        _ view: Int, in range: RowRange, skip: Int, limit: Int, _ body: (RawRow) throws -> Bool
    ) throws -> (count: Int, rest: RowRange?) {
        var count = 0
        var rest: RowRange?
        try forEachPart(view, in: range, skip: skip, limit: limit) { chunk, part in
            try chunk.bytes.withUnsafeBufferPointer { bytes in
                for offset in 0..<part.count {
                    let index = range.descending ? part.upperBound - 1 - offset : part.lowerBound + offset
                    let row = chunk.rows[index]
                    count += 1
                    let wantsMore = try body(
                        RawRow(
                            key: UnsafeBufferPointer(rebasing: bytes[row.key]),
                            id: UnsafeBufferPointer(rebasing: bytes[row.id]),
                            value: UnsafeBufferPointer(rebasing: bytes[row.value])))
                    guard wantsMore else {
                        rest = range.after(Array(chunk.position(index)))
                        return false
                    }
                }
                return true
            }
        }
        return (count, rest)
    }

    /// Calls a closure for the chunks of a range with the part of each that is wanted, until it returns `false`.
    private func forEachPart(
        _ view: Int, in range: RowRange, skip: Int, limit: Int, _ body: (RowChunk, Range<Int>) throws -> Bool
    ) throws {
        var (left, toSkip) = (limit, skip)
        guard left > 0 else { return }
        try reader.forEachChunk(view, in: range) { entry in
            let (chunk, part) = try reader.part(of: entry, in: range)
            guard toSkip < part.count else {
                toSkip -= part.count
                return true
            }
            let wanted = range.descending ? part.dropLast(toSkip) : part.dropFirst(toSkip)
            toSkip = 0
            let some = range.descending ? wanted.suffix(left) : wanted.prefix(left)
            left -= some.count
            return try body(chunk, some.startIndex..<some.endIndex) && left > 0
        }
    }
}
