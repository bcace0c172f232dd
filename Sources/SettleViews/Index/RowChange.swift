/// A row to add to an index or to remove from it.
struct RowChange {
    let position: [UInt8]
    /// The row in the format of a chunk; `nil` to remove it.
    let row: [UInt8]?
}
