internal import Settle

/// A tree as all who replicate see it, without what one replica has noted for itself.
struct TreeShape: Hashable {
    private let parents: [RevisionID: RevisionID?]
    private let leaves: [RevisionID: Bool]

    init(_ tree: RevisionTree) {
        parents = Dictionary(uniqueKeysWithValues: tree.revisions.map { ($0, tree.parent(of: $0)) })
        leaves = Dictionary(uniqueKeysWithValues: tree.leaves.map { ($0.revision, $0.isDeleted) })
    }
}
