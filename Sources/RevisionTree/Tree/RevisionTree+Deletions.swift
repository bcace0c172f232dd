extension RevisionTree {
    /// The tombstones that contradict a live leaf, highest id first: some user deleted the document while another one
    /// went on with it.
    ///
    /// CouchDB's winner is the live leaf then (SEMANTICS 63), and most policies leave it at that; one by which
    /// deletions win has to tell such a tombstone from those that close the losing branches of settled conflicts, or
    /// every document that was ever settled would be deleted (K2). In order:
    ///
    ///     marked as closing                                   not a deletion
    ///     marked as the deletion of a whole document          a deletion
    ///     its parent is an ancestor of the live leaf          a deletion    1-a ─┬─ 2-y
    ///                                                                            └─ 2-t (deleted)
    ///     else it closes a branch, made by a foreign peer     not a deletion
    ///
    /// A live leaf on whose path a tombstone lies was revived by one who saw the document deleted; an earlier deletion is
    /// no news to them. Where the path was forgotten down to the tombstone's generation, the tombstone may have been on it,
    /// and the live leaf stays.
    ///
    /// - Complexity: O(1) without tombstones among the leaves, else O(*t* *n*) for *t* of them.
    public var disputedDeletions: [RevisionID] {
        guard nodes.count > 1 else { return [] }
        let leaves = nodes.indices.reversed().filter { nodes[$0].isLeaf }
        let tombstones = leaves.filter { nodes[$0].isDeleted && !nodes[$0].marks.contains(.closing) }
        guard !tombstones.isEmpty else { return [] }
        let live = leaves.filter { !nodes[$0].isDeleted }
        return tombstones.filter { tombstone in live.contains { isDeletion(at: tombstone, ofLeafAt: $0) } }
            .map { nodes[$0].revision }
    }

    /// Whether one live leaf stands against a user's deletion and there is no other live leaf: no conflict as CouchDB
    /// counts them (SEMANTICS 66), but a question all the same.
    public var isContested: Bool { !isConflicted && !disputedDeletions.isEmpty }

    private func isDeletion(at tombstone: Int, ofLeafAt leaf: Int) -> Bool {
        var (left, right) = (nodes[tombstone].parent, Int32(truncatingIfNeeded: leaf))
        var root = leaf
        var isChild = true
        while left != right {
            if left > right {
                left = nodes[Int(left)].parent
                isChild = false
            } else {
                if nodes[Int(right)].isDeleted { return false }
                root = Int(right)
                right = nodes[Int(right)].parent
            }
        }
        if left >= 0 && isChild { return true }
        // A path that was cut above the tombstone may have led over it.
        let isCut = left < 0 && nodes[root].revision.generation > nodes[tombstone].revision.generation
        return nodes[tombstone].marks.contains(.deletion) && !isCut
    }
}
