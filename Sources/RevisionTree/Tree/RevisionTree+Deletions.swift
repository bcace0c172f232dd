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
    /// no news to them.
    ///
    /// Found in two passes: back from the leaves, which nodes a live leaf descends from without a tombstone between; and
    /// forward, which have such a node on their own path.
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
            return parent.map { comesFromLive[$0] } ?? false || liveRoots.contains { $0 != root[index] }
        }.map { nodes[$0].revision }
    }

    /// Whether a node is a tombstone among the leaves that may be a user's deletion.
    private func isOpenTombstone(_ node: RevisionNode) -> Bool {
        node.isLeaf && node.isDeleted && !node.marks.contains(.closing)
    }

    /// Whether one live leaf stands against a user's deletion and there is no other live leaf: no conflict as CouchDB
    /// counts them (SEMANTICS 66), but a question all the same.
    public var isContested: Bool { !isConflicted && !disputedDeletions.isEmpty }
}
