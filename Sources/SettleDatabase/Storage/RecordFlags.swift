package import SettleCore

/// What the index of an engine's documents tells apart; a document is of one kind only.
package enum RecordFlags: Int64, Sendable {
    /// There is one live leaf.
    case plain = 0
    /// All leaves are tombstones.
    case deleted = 1
    /// There are two or more live leaves.
    case conflicted = 2
    /// There is one live leaf, and a user's deletion stands against it.
    case contested = 3

    package init(_ tree: RevisionTree) {
        if tree.isDeleted {
            self = .deleted
        } else if tree.count < 2 {
            self = .plain
        } else {
            self = tree.isConflicted ? .conflicted : tree.isContested ? .contested : .plain
        }
    }

    package init(_ kind: ConflictKind) {
        switch kind {
        case .branches: self = .conflicted
        case .deletion: self = .contested
        }
    }
}
