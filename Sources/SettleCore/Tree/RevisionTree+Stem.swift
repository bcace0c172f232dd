extension RevisionTree {
    /// Removes the ancestors that are `limit` or more steps above every leaf.
    ///
    /// With `revs_limit` 3:
    ///
    ///     1-a ── 2-b ─┬─ 3-c ── 4-d ── 5-e          ·  2-b ─┬─ 3-c ── 4-d ── 5-e
    ///                 └─ 3-x                   →            └─ 3-x
    ///
    /// 2-b stays, because it is one step above 3-x. If branches part beyond the limit, the tree splits into several
    /// roots (SEMANTICS 202); an older path that arrives later joins them again. No leaf is ever lost.
    ///
    /// One pass from the end, children before parents, computes each node's distance to its nearest leaf.
    ///
    /// - Parameter limit: How many revisions of a branch to keep, at least 1.
    /// - Returns: The removed nodes, so that the caller can remove their bodies.
    /// - Complexity: O(1) when there are no more nodes than the limit, else O(*n*).
    @discardableResult
    public mutating func stem(to limit: Int) -> [RevisionNode] {
        let limit = max(limit, 1)
        guard nodes.count > limit else { return [] }
        var distance = [Int](repeating: .max, count: nodes.count)
        for index in nodes.indices.reversed() {
            if nodes[index].isLeaf { distance[index] = 0 }
            if let parent = nodes[index].parentIndex, distance[index] < limit {
                distance[parent] = min(distance[parent], distance[index] + 1)
            }
        }
        return remove { distance[$0] >= limit }
    }

    /// Removes leaves, and the ancestors that lead to no other leaf: a purge.
    ///
    /// Only leaves can be purged; other revisions in the list are ignored.
    ///
    /// - Returns: The removed nodes, leaves and ancestors.
    /// - Complexity: O(*n*).
    @discardableResult
    package mutating func purge(_ revisions: [RevisionID]) -> [RevisionNode] {
        let doomed = Set(revisions.filter { self[$0]?.isLeaf == true })
        guard !doomed.isEmpty else { return [] }
        var isNeeded = [Bool](repeating: false, count: nodes.count)
        for index in nodes.indices.reversed() {
            if nodes[index].isLeaf && !doomed.contains(nodes[index].revision) { isNeeded[index] = true }
            if isNeeded[index], let parent = nodes[index].parentIndex { isNeeded[parent] = true }
        }
        return remove { !isNeeded[$0] }
    }

    /// Removes the nodes at some positions and closes the gaps; children of removed nodes become roots.
    private mutating func remove(where isDropped: (Int) -> Bool) -> [RevisionNode] {
        var positions = [Int32](repeating: -1, count: nodes.count)
        var kept: [RevisionNode] = []
        var dropped: [RevisionNode] = []
        for index in nodes.indices {
            if isDropped(index) {
                dropped.append(nodes[index])
                continue
            }
            var node = nodes[index]
            node.parent = node.parentIndex.map { positions[$0] } ?? -1
            positions[index] = Int32(truncatingIfNeeded: kept.count)
            kept.append(node)
        }
        nodes = kept
        return dropped
    }
}
