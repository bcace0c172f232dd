extension RevisionTree {
    /// The path from a revision back to its root, newest first, or `nil` when the tree does not know it.
    ///
    /// - Parameters:
    ///   - revision: Where to begin; it need not be a leaf.
    ///   - limit: How many revisions to return at the most; for none there is no history either.
    /// - Returns: The history, or `nil`.
    /// - Complexity: O(*k* + log *n*) for *k* revisions returned.
    public func history(of revision: RevisionID, limit: Int = .max) -> RevisionHistory? {
        guard var index = index(of: revision), limit > 0 else { return nil }
        var signatures = [revision.signature]
        while signatures.count < limit, let parent = nodes[index].parentIndex {
            signatures.append(nodes[parent].revision.signature)
            index = parent
        }
        return RevisionHistory(unchecked: revision.generation, signatures)
    }

    /// The newest revision that both descend from, one of the two included; `nil` when their branches share none.
    ///
    /// A parent stands before its child, so stepping back from whichever stands later meets the common one first.
    public func commonAncestor(of first: RevisionID, _ second: RevisionID) -> RevisionID? {
        guard var left = index(of: first), var right = index(of: second) else { return nil }
        while left != right {
            guard let parent = nodes[max(left, right)].parentIndex else { return nil }
            if left > right { left = parent } else { right = parent }
        }
        return nodes[left].revision
    }

    /// Whether the first revision is the second or lies on the path back from it.
    public func isAncestor(_ ancestor: RevisionID, of revision: RevisionID) -> Bool {
        commonAncestor(of: ancestor, revision) == ancestor
    }

    /// The revisions of a list that the tree does not know, in the list's order.
    public func missing(from revisions: [RevisionID]) -> [RevisionID] { revisions.filter { !contains($0) } }

    /// The leaves that may be ancestors of missing revisions, ascending.
    ///
    /// They are the leaves of a lower generation than the highest missing one, as CouchDB has it: a source that
    /// knows them may send a delta.
    public func possibleAncestors(of missing: [RevisionID]) -> [RevisionID] {
        guard let highest = missing.map(\.generation).max() else { return [] }
        return nodes.filter { $0.isLeaf && $0.revision.generation < highest }.map(\.revision)
    }

    /// The revisions in which two or more branches part that still have a live leaf or a disputed deletion: the bases
    /// a conflict may be merged on. Empty when there is nothing to settle.
    ///
    /// - Complexity: O(*n*).
    public var branchPoints: [RevisionID] {
        let deletions = disputedDeletions
        guard !deletions.isEmpty || isConflicted else { return [] }
        let open = nodes.filter { $0.isLeaf && (!$0.isDeleted || deletions.contains($0.revision)) }
        return branchPoints(of: open.map(\.revision)).points
    }

    /// The revisions in which the paths to some revisions part, ascending, and the newest one that all descend from.
    ///
    /// One pass from the newest node back counts for each node the branches below that lead to a wanted revision, and
    /// how many of those there are.
    ///
    /// - Complexity: O(*n* + *k* log *n*) for *k* revisions, however they are entangled.
    package func branchPoints(
        of revisions: [RevisionID]
    ) -> (points: [RevisionID], ancestor: RevisionID?) {
        var branches = [Int32](repeating: 0, count: nodes.count)
        var found = [Int](repeating: 0, count: nodes.count)
        for index in revisions.compactMap(index(of:)) { found[index] = 1 }
        var points: [RevisionID] = []
        var ancestor: RevisionID?
        for index in nodes.indices.reversed() where found[index] > 0 {
            if branches[index] > 1 { points.append(nodes[index].revision) }
            if ancestor == nil, found[index] == revisions.count { ancestor = nodes[index].revision }
            guard let parent = nodes[index].parentIndex else { continue }
            branches[parent] += 1
            found[parent] += found[index]
        }
        return (points.reversed(), ancestor)
    }
}
