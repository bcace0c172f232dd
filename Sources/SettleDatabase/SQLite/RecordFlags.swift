internal import RevisionTree

/// What the indexes of the documents table tell apart.
struct RecordFlags: OptionSet {
    let rawValue: Int64

    /// All leaves are tombstones.
    static let isDeleted = RecordFlags(rawValue: 1)
    /// There are two or more live leaves.
    static let isConflicted = RecordFlags(rawValue: 2)

    init(rawValue: Int64) { self.rawValue = rawValue }

    init(_ tree: RevisionTree) {
        var flags: RecordFlags = []
        if tree.isDeleted { flags.insert(.isDeleted) }
        if tree.count > 1, tree.isConflicted { flags.insert(.isConflicted) }
        self = flags
    }
}
