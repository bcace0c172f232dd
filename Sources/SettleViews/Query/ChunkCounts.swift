internal import SettleDatabase

/// How many rows stand before each chunk of a view, as long as its index stays as it is.
///
///     chunk    first position   rows before
///       7          …a                0
///       3          …f              118          rows before …g  =  118 + those of chunk 3 before it
///       9          …m              231
///
/// To add them up anew for each question takes as long as there are chunks.
struct ChunkCounts {
    private var chunks: [(first: [UInt8], number: Int64, before: Int)] = []
    /// How many rows there are.
    private(set) var total = 0

    /// Of how many chunks they are kept at the most.
    static let most = 5000

    /// Reads those of a view; `nil` when there are too many.
    ///
    /// - Parameters:
    ///   - statement: Gives position, number and count of each chunk, in order.
    ///   - most: How many chunks there may be.
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

    /// The last chunk that begins before a position, and how many rows stand before that chunk; `nil` when there is none.
    func chunk(before position: [UInt8]) -> (number: Int64, before: Int)? {
        var (low, high) = (0, chunks.count)
        while low < high {
            let middle = (low + high) / 2
            if RowPosition.isBefore(chunks[middle].first, position) { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : (chunks[low - 1].number, chunks[low - 1].before)
    }
}
