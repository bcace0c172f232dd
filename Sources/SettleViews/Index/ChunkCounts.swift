internal import SettleDatabase

/// The number of rows before each chunk of a view, valid while the index is unchanged.
///
///     chunk    first position   rows before
///       7          …a                0
///       3          …f              118          rows before …g  =  118 + those of chunk 3 before it
///       9          …m              231
///
/// Adding them up for each query would take time proportional to the number of chunks.
struct ChunkCounts {
    private var chunks: [(first: [UInt8], number: Int64, before: Int)] = []
    /// The number of rows.
    private(set) var total = 0

    /// The maximum number of chunks to cache counts for.
    static let most = 5000

    /// Reads the counts of a view; `nil` when there are too many chunks.
    ///
    /// - Parameters:
    ///   - statement: Returns position, number and count of each chunk, in order.
    ///   - most: The maximum number of chunks.
    /// - Throws: ``DatabaseError``.
    init?(_ statement: SQLiteStatement, most: Int) throws {
        let isWhole = try statement.all { row -> Bool in
            guard chunks.count < most else { return false }
            chunks.append((row.bytes(0), row.integer(1), total))
            total += Int(row.integer(2))
            return true
        }
        if isWhole.last == false { return nil }
    }

    /// The last chunk that begins before a position, and the number of rows before that chunk; `nil` if there is
    /// none.
    func chunk(before position: [UInt8]) -> (number: Int64, before: Int)? {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if RowPosition.isBefore(chunks[middle].first, position) { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : (chunks[low - 1].number, chunks[low - 1].before)
    }
}
