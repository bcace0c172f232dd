/// One place where a text differs from another: these lines give way to those.
struct LineEdit: Hashable {
    /// The lines of the old text that go; empty for an insertion in front of its bound.
    let lines: Range<Int>
    /// The lines that come.
    let replacement: [Int]
}
