package import SettleCore

/// Two states that a peer had one after the other, on branches of their own: edits here were made on the first, and conflict with
/// the second.
///
///     at the peer    1 ─┬─ 2-a              here    2-a ── 3-own
///                       └─ 2-f ─ 3-b                2-f ── 3-b
///
/// A server that sends its current state alone never sent `1`. What it had when the edits were made is known, and a merge takes
/// that as base: `3-own` is merged with `3-b` on `2-a`.
package struct FormerState: Hashable, Sendable {
    /// The peer's state that the edits were made on.
    package let former: RevisionID
    /// The peer's current state.
    package let current: RevisionID

    package init(former: RevisionID, current: RevisionID) { (self.former, self.current) = (former, current) }

    /// Whether some leaves are the current state and edits of the former one.
    func explains(_ leaves: [RevisionID], in tree: RevisionTree) -> Bool {
        let edits = leaves.filter { $0 != current }
        return !edits.isEmpty && edits.count < leaves.count
            && edits.allSatisfy { tree.history(of: $0)?.revisions.contains(former) ?? false }
    }
}
