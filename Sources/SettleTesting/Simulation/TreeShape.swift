internal import Settle

/// A tree as replicated, without the local marks of one replica.
struct TreeShape: Hashable {
    private let parents: [RevisionID: RevisionID?]
    private let leaves: [RevisionID: Bool]

    init(_ tree: RevisionTree) {
        parents = Dictionary(uniqueKeysWithValues: tree.revisions.map { ($0, tree.parent(of: $0)) })
        leaves = Dictionary(uniqueKeysWithValues: tree.leaves.map { ($0.revision, $0.isDeleted) })
    }
}
