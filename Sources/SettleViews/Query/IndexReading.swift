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
    ///   - bytes: After how many bytes to stop, at least a row.
    /// - Returns: The rows, and the range of those that follow; `nil` when there are none.
    /// - Throws: ``DatabaseError``.
    package func rows(
        _ view: Int, in range: RowRange, skip: Int = 0, limit: Int = .max, bytes: Int = .max
    ) throws -> (rows: [IndexRow], rest: RowRange?) {
        guard limit > 0 else { return ([], nil) }
        var rows: [IndexRow] = []
        var toSkip = skip
        var length = 0
        var rest: RowRange?
        try reader.forEachChunk(view, in: range) { entry in
            let (chunk, part) = try reader.part(of: entry, in: range)
            guard toSkip < part.count else {
                toSkip -= part.count
                return true
            }
            let wanted = range.descending ? part.dropLast(toSkip) : part.dropFirst(toSkip)
            toSkip = 0
            let some = range.descending ? wanted.suffix(limit - rows.count) : wanted.prefix(limit - rows.count)
            let found = chunk.indexRows(some.startIndex..<some.endIndex)
            rows += range.descending ? found.reversed() : found
            length += chunk.bytes.count
            return rows.count < limit && length < bytes
        }
        if rows.count < limit, length >= bytes, let last = rows.last { rest = range.after(Array(last.position)) }
        return (rows, rest)
    }
}
