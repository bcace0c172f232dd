internal import RevisionTree

/// What the index of the documents table tells apart. A conflicted document has a live leaf, so it is not deleted.
enum RecordFlags: Int64 {
    /// There is one live leaf.
    case plain = 0
    /// All leaves are tombstones.
    case deleted = 1
    /// There are two or more live leaves.
    case conflicted = 2

    init(_ tree: RevisionTree) {
        self = tree.isDeleted ? .deleted : tree.count > 1 && tree.isConflicted ? .conflicted : .plain
    }
}
