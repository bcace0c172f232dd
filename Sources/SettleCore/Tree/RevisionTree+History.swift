extension RevisionTree {
    /// The path from a revision back to its root, newest first; `nil` if the revision is not in the tree.
    ///
    /// - Parameters:
    ///   - revision: The start of the path; it need not be a leaf.
    ///   - limit: The maximum number of revisions to return; with 0 the history is `nil`.
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

    /// The newest revision from which both descend, which may be one of the two; `nil` if their branches have no
    /// common revision.
    ///
    /// A parent comes before its child in the array, so stepping back from the later of the two reaches the common
    /// ancestor first.
    public func commonAncestor(of first: RevisionID, _ second: RevisionID) -> RevisionID? {
        guard var left = index(of: first), var right = index(of: second) else { return nil }
        while left != right {
            guard let parent = nodes[max(left, right)].parentIndex else { return nil }
            if left > right { left = parent } else { right = parent }
        }
        return nodes[left].revision
    }

    /// Whether the first revision is the second, or an ancestor of it.
    public func isAncestor(_ ancestor: RevisionID, of revision: RevisionID) -> Bool {
        commonAncestor(of: ancestor, revision) == ancestor
    }

    /// The listed revisions that are not in the tree, in order.
    package func missing(from revisions: [RevisionID]) -> [RevisionID] { revisions.filter { !contains($0) } }

    /// The leaves that may be ancestors of missing revisions, ascending.
    ///
    /// They are the leaves of a lower generation than the highest missing one, as in CouchDB: a source that has
    /// them may send only the difference.
    package func possibleAncestors(of missing: [RevisionID]) -> [RevisionID] {
        guard let highest = missing.map(\.generation).max() else { return [] }
        return nodes.filter { $0.isLeaf && $0.revision.generation < highest }.map(\.revision)
    }

    /// The revisions at which two or more branches part that still have a live leaf or a disputed deletion:
    /// possible bases of a merge. Empty if there is nothing to settle.
    ///
    /// - Complexity: O(*n*).
    public var branchPoints: [RevisionID] {
        let deletions = disputedDeletions
        guard !deletions.isEmpty || isConflicted else { return [] }
        let open = nodes.filter { $0.isLeaf && (!$0.isDeleted || deletions.contains($0.revision)) }
        return branchPoints(of: open.map(\.revision)).points
    }

    /// The revisions at which the paths to some revisions part, ascending, and their newest common ancestor.
    ///
    /// One pass backward from the newest node counts, for each node, the branches below it that lead to a wanted
    /// revision, and the number of these revisions.
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
