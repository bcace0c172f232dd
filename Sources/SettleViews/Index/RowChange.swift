/// A row that comes into an index or leaves it.
struct RowChange {
    let position: [UInt8]
    /// The row as it lies in a chunk; `nil` when it leaves.
    let row: [UInt8]?
}
