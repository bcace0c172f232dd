internal import Settle

/// All that a pure policy may look at: replicas with the same of it write the same.
struct SettlingQuestion: Hashable {
    let policy: String
    let documentID: DocumentID
    /// Every leaf, tombstones included.
    let leaves: [RevisionID]
    /// The leaves that are to be settled.
    let concerned: [RevisionID]
    /// Where their branches part.
    let branchPoints: [RevisionID]

    init(_ conflict: Conflict, of policy: SimulatedPolicy) {
        self.policy = policy.name
        documentID = conflict.documentID
        leaves = conflict.tree.leaves.map(\.revision)
        concerned = conflict.leaves.compactMap(\.revision)
        branchPoints = conflict.tree.branchPoints
    }
}
