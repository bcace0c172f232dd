internal import SettleDatabase

/// An entry of a view's directory: a chunk, or on an upper level a range of entries of the level below.
struct DirectoryEntry {
    /// The position of its first row.
    let first: [UInt8]
    /// The chunk's number; 0 on upper levels.
    let number: Int64
    /// The number of its rows.
    let count: Int

    init(first: [UInt8], number: Int64 = 0, count: Int) {
        (self.first, self.number, self.count) = (first, number, count)
    }

    /// Reads the columns `first`, `number` and `count`.
    init(_ row: SQLiteStatement) {
        self.init(first: row.bytes(0), number: row.integer(1), count: Self.count(row, 2))
    }

    /// Reads a number of rows. A damaged one is limited, so that sums of some do not overflow.
    static func count(_ row: SQLiteStatement, _ column: Int32) -> Int {
        Int(min(max(row.integer(column), 0), 1 << 48))
    }
}
