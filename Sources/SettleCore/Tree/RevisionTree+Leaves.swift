extension RevisionTree {
    /// The leaf that every peer shows for the document, or `nil` in an empty tree.
    ///
    /// The rule is CouchDB's (SEMANTICS 63): a live leaf before a deleted one, then the higher generation as a
    /// number, then the higher signature. Nodes are in that order, so it is the last live leaf, otherwise the last
    /// leaf.
    ///
    /// - Complexity: O(1) when the newest revision is live, else O(*n*).
    public var winner: RevisionNode? {
        var deleted: RevisionNode?
        for node in nodes.reversed() where node.isLeaf {
            if !node.isDeleted { return node }
            if deleted == nil { deleted = node }
        }
        return deleted
    }

    /// Every leaf, the winner first: live leaves before deleted ones, each kind by descending id.
    ///
    /// - Complexity: O(*n*).
    public var leaves: [RevisionNode] {
        let leaves = nodes.reversed().filter(\.isLeaf)
        return leaves.filter { !$0.isDeleted } + leaves.filter(\.isDeleted)
    }

    /// The live leaves that are not the winner: CouchDB's `_conflicts`, highest id first.
    public var conflicts: [RevisionID] { leaves.dropFirst().filter { !$0.isDeleted }.map(\.revision) }

    /// The deleted leaves that are not the winner: CouchDB's `_deleted_conflicts`, highest id first.
    public var deletedConflicts: [RevisionID] { leaves.dropFirst().filter(\.isDeleted).map(\.revision) }

    /// Whether there are two or more live leaves (SEMANTICS 61); leaves that are tombstones do not count (66).
    public var isConflicted: Bool {
        var live = 0
        for node in nodes where node.isLeaf && !node.isDeleted { live += 1 }
        return live > 1
    }

    /// Whether every leaf is a tombstone, so that the document is deleted (SEMANTICS 201); an empty tree is not.
    public var isDeleted: Bool { winner?.isDeleted ?? false }
}
