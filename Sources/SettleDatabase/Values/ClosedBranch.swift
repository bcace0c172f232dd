package import SettleCore

/// The end of a branch that a revision of another replica has merged: the same tombstone that settling writes here
/// (SEMANTICS 83), so that replicas do not take it for a user's deletion (K2).
package struct ClosedBranch: Sendable {
    /// The tombstone and its ancestors.
    package let history: RevisionHistory
    /// The tombstone's members.
    package let body: DocumentBody

    /// Ends a branch.
    ///
    /// - Parameters:
    ///   - leaf: The leaf of the branch and its ancestors.
    ///   - survivor: The revision that has merged it.
    /// - Throws: ``DatabaseError`` with code `invalid` for a leaf of the highest generation, which can have no child.
    package init(_ leaf: RevisionHistory, for survivor: RevisionID) throws {
        let body = try ClosingTombstone(survivor: survivor).body()
        let tombstone = RevisionHasher().revision(of: body, parent: leaf.revision, isDeleted: true)
        guard let history = RevisionHistory([tombstone] + leaf.revisions) else {
            throw DatabaseError(.invalid, "the branch of \(leaf.revision) has reached the highest generation there is")
        }
        (self.history, self.body) = (history, body)
    }
}
