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
    /// For each device with version vectors, the latest removed version stays, as a superseded root without a body.
    /// See `forgottenVersions`.
    ///
    /// One pass from the end, children before parents, computes each node's distance to its nearest leaf.
    ///
    /// - Parameter limit: The number of revisions to keep of each branch, at least 1.
    /// - Returns: The nodes that have lost their bodies, so that the caller can remove the bodies.
    /// - Complexity: O(1) if there are no more nodes than the limit, otherwise O(*n*).
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
        let kept = latestVersions { distance[$0] >= limit }
        return remove(where: { distance[$0] >= limit && !kept.contains($0) }, detaching: kept)
    }

    /// The stemmed versions that a tree keeps: the latest one of each device, and the latest revision id that is
    /// not a device's, if there are versions of devices.
    ///
    /// A device that knows only such a version needs it to learn that the document's state descends from it. These
    /// versions are superseded roots without children and bodies, so there are as many as authors, however many
    /// edits are stemmed.
    ///
    /// - Complexity: O(*n*).
    package var forgottenVersions: [RevisionID] {
        guard nodes.count > 1 else { return [] }
        var hasChild = [Bool](repeating: false, count: nodes.count)
        for case let parent? in nodes.map(\.parentIndex) { hasChild[parent] = true }
        return nodes.indices.filter { nodes[$0].isSuperseded && nodes[$0].parent < 0 && !hasChild[$0] }
            .map { nodes[$0].revision }
    }

    /// The positions of the latest version of each author among some nodes; empty in a tree without versions of
    /// devices.
    private func latestVersions(where isBeyond: (Int) -> Bool) -> Set<Int> {
        guard nodes.contains(where: { DeviceVersion($0.revision.signature) != nil }) else { return [] }
        var latest: [DeviceVersion.Device?: (time: UInt64, index: Int)] = [:]
        for index in nodes.indices where isBeyond(index) {
            let version = DeviceVersion(nodes[index].revision.signature)
            // Ids that are not a device's are in ascending order.
            let time = version?.time ?? UInt64(index)
            if latest[version?.device].map({ $0.time < time }) ?? true { latest[version?.device] = (time, index) }
        }
        return Set(latest.values.map(\.index))
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
        return remove(where: { !isNeeded[$0] })
    }

    /// Removes the nodes at some positions and closes the gaps; children of removed nodes become roots. Detached nodes lose
    /// their bodies, parents and children.
    private mutating func remove(
        where isDropped: (Int) -> Bool, detaching detached: Set<Int> = []
    ) -> [RevisionNode] {
        var positions = [Int32](repeating: -1, count: nodes.count)
        var kept: [RevisionNode] = []
        var dropped: [RevisionNode] = []
        for index in nodes.indices {
            if isDropped(index) {
                dropped.append(nodes[index])
                continue
            }
            var node = nodes[index]
            if detached.contains(index) {
                if node.bodyToken != 0 { dropped.append(node) }
                (node.parent, node.bodyToken) = (-1, 0)
            } else {
                node.parent = node.parentIndex.map { positions[$0] } ?? -1
                positions[index] = Int32(truncatingIfNeeded: kept.count)
            }
            kept.append(node)
        }
        nodes = kept
        return dropped
    }
}
