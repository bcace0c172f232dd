internal import Settle

/// All inputs of a pure policy: replicas with equal inputs write the same revisions.
struct SettlingQuestion: Hashable {
    let policy: String
    let documentID: DocumentID
    /// Every leaf, tombstones included.
    let leaves: [RevisionID]
    /// The leaves to settle.
    let concerned: [RevisionID]
    /// The revisions at which their branches part.
    let branchPoints: [RevisionID]

    init(_ conflict: Conflict, of policy: SimulatedPolicy) {
        self.policy = policy.name
        documentID = conflict.documentID
        leaves = conflict.tree.leaves.map(\.revision)
        concerned = conflict.leaves.compactMap(\.revision)
        branchPoints = conflict.tree.branchPoints
    }
}
