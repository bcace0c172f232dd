extension RevisionTree {
    /// The tombstones that contradict a live leaf, highest id first: one user deleted the document while another
    /// continued editing it.
    ///
    /// CouchDB's winner is the live leaf then (SEMANTICS 63), and most policies keep it. A policy by which deletions
    /// win has to distinguish such a tombstone from those that close the losing branches of settled conflicts;
    /// otherwise every document that was ever settled would be deleted (K2). In order:
    ///
    ///     marked as closing                                   not a deletion
    ///     marked as the deletion of a whole document          a deletion
    ///     its parent is an ancestor of the live leaf          a deletion    1-a ─┬─ 2-y
    ///                                                                            └─ 2-t (deleted)
    ///     else it closes a branch, made by a foreign peer     not a deletion
    ///
    /// A live leaf with a tombstone on its path was revived by a user who knew of the deletion, so an earlier
    /// deletion does not contradict it. If the path was stemmed down to the tombstone's generation, the tombstone may
    /// have been on it, and the live leaf stays.
    ///
    /// Found in two passes: backward from the leaves, for the nodes that a live leaf descends from without a
    /// tombstone in between; and forward, for the nodes that have such a node on their own path.
    ///
    /// - Complexity: O(*n*), however the branches are entangled.
    public var disputedDeletions: [RevisionID] {
        guard nodes.count > 1, nodes.contains(where: isOpenTombstone) else { return [] }
        var leadsToLive = [Bool](repeating: false, count: nodes.count)
        var liveRoots: [Int] = []
        for index in nodes.indices.reversed() where !nodes[index].isDeleted {
            guard leadsToLive[index] || nodes[index].isLeaf else { continue }
            if let parent = nodes[index].parentIndex { leadsToLive[parent] = true } else { liveRoots.append(index) }
        }
        guard !liveRoots.isEmpty || leadsToLive.contains(true) else { return [] }
        var comesFromLive = leadsToLive
        var root = Array(nodes.indices)
        for index in nodes.indices {
            guard let parent = nodes[index].parentIndex else { continue }
            comesFromLive[index] = comesFromLive[index] || comesFromLive[parent]
            root[index] = root[parent]
        }
        return nodes.indices.reversed().filter { index in
            guard isOpenTombstone(nodes[index]) else { return false }
            let parent = nodes[index].parentIndex
            if let parent, leadsToLive[parent] { return true }
            guard nodes[index].marks.contains(.deletion) else { return false }
            if let parent, comesFromLive[parent] { return true }
            // The tombstone may have been on the stemmed part of a path.
            return liveRoots.contains {
                $0 != root[index] && nodes[$0].revision.generation <= nodes[index].revision.generation
            }
        }.map { nodes[$0].revision }
    }

    /// Whether a node is a tombstone among the leaves that may be a user's deletion.
    private func isOpenTombstone(_ node: RevisionNode) -> Bool {
        node.isLeaf && node.isDeleted && !node.marks.contains(.closing)
    }

    /// Whether one live leaf and a user's deletion contradict each other and there is no other live leaf: not a
    /// conflict in CouchDB's terms (SEMANTICS 66), but unsettled all the same.
    public var isContested: Bool { !isConflicted && !disputedDeletions.isEmpty }
}
