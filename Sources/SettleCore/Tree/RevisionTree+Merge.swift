extension RevisionTree {
    /// Adds all revisions of another tree of the same document.
    ///
    /// Set union: both arrays are sorted by id and walked side by side; equal ids become one node.
    ///
    ///     ours    1-a  2-b       4-d            ours has stemmed 3-c's history away
    ///     theirs  1-a  2-b  3-c  4-d
    ///     union   1-a  2-b  3-c  4-d            4-d finds its parent again
    ///
    /// A node is a leaf of the union only if it is a leaf on both sides that have it. If two peers claim different
    /// parents for one revision, which only forged ids can have, the greater claim is taken, so that the order of
    /// merging does not matter.
    ///
    /// Merging is commutative, associative and idempotent.
    ///
    /// - Complexity: O(*n* + *m*).
    public mutating func merge(_ other: RevisionTree) {
        var union: [RevisionNode] = []
        union.reserveCapacity(nodes.count + other.nodes.count)
        var mine = [Int32](repeating: -1, count: nodes.count)
        var theirs = [Int32](repeating: -1, count: other.nodes.count)
        var left = 0
        var right = 0
        while left < nodes.count || right < other.nodes.count {
            let takesLeft =
                right == other.nodes.count
                || (left < nodes.count && nodes[left].revision <= other.nodes[right].revision)
            let takesRight =
                left == nodes.count
                || (right < other.nodes.count && other.nodes[right].revision <= nodes[left].revision)
            let position = Int32(truncatingIfNeeded: union.count)
            var node = takesLeft ? nodes[left] : other.nodes[right]
            node.parent = max(
                takesLeft ? Self.moved(nodes[left].parent, by: mine) : -1,
                takesRight ? Self.moved(other.nodes[right].parent, by: theirs) : -1)
            if takesLeft && takesRight { node.absorb(other.nodes[right]) }
            union.append(node)
            if takesLeft {
                mine[left] = position
                left += 1
            }
            if takesRight {
                theirs[right] = position
                right += 1
            }
        }
        nodes = union
    }

    private static func moved(_ parent: Int32, by positions: [Int32]) -> Int32 {
        parent < 0 ? -1 : positions[Int(parent)]
    }

    /// This tree merged with another one; see ``merge(_:)``.
    package func merging(_ other: RevisionTree) -> RevisionTree {
        var union = self
        union.merge(other)
        return union
    }
}

extension RevisionNode {
    /// Takes over the properties of another copy of the same revision.
    fileprivate mutating func absorb(_ other: RevisionNode) {
        isDeleted = isDeleted || other.isDeleted
        isSuperseded = isSuperseded || other.isSuperseded
        isShared = isShared || other.isShared
        marks.formUnion(other.marks)
        bodyToken = max(bodyToken, other.bodyToken)
    }
}
