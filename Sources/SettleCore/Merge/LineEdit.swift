/// One place where a text differs from another: some lines are replaced by others.
struct LineEdit: Hashable {
    /// The lines of the old text to remove; empty for an insertion before its bound.
    let lines: Range<Int>
    /// The lines to insert.
    let replacement: [Int]
}
