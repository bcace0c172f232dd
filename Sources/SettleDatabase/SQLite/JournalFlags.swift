/// Which contents of an operation the document keeps, as it stands in the file.
struct JournalFlags: OptionSet {
    let rawValue: Int64
    /// The content after it is that of its revision.
    static let new = JournalFlags(rawValue: 1)
    /// The content before it is that of its revision's parent.
    static let old = JournalFlags(rawValue: 2)
}
