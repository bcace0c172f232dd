extension RevisionTree {
    /// The effect of an insertion on the tree.
    public enum Insertion: Hashable, Sendable {
        /// The revision was known, and so was its path; the tree is unchanged (SEMANTICS 200).
        case known
        /// The revision was known, but not all of its path: the tree now knows more ancestors, and a former leaf
        /// may have got a child (SEMANTICS 202).
        case joined
        /// The revision continues a leaf.
        case extended
        /// The revision started a branch: on an inner revision, or as another root.
        case branched
    }

    /// Adds a local edit.
    ///
    /// The caller decides whether an edit of an inner revision is allowed: here it starts a branch.
    ///
    /// - Parameters:
    ///   - revision: The edit's id, one generation above its parent.
    ///   - parent: The revision that was edited; `nil` for generation 1.
    ///   - isDeleted: Whether the edit deletes the document.
    /// - Returns: ``Insertion/extended`` or ``Insertion/branched``.
    /// - Throws: ``RevisionTreeError`` with code `unknownParent`, `generation`, or `exists`; the tree is unchanged.
    /// - Complexity: O(log *n*) for an edit of the highest generation, else O(*n*).
    @discardableResult
    public mutating func insert(
        _ revision: RevisionID, parent: RevisionID?, isDeleted: Bool
    ) throws(RevisionTreeError) -> Insertion {
        let expected = (parent?.generation ?? 0) + 1
        guard revision.generation == expected else {
            let place = parent.map { "on \($0)" } ?? "without a parent"
            throw RevisionTreeError(.generation, "\(revision) \(place) must have generation \(expected)")
        }
        guard expected <= RevisionID.maximumGeneration else {
            throw RevisionTreeError(.generation, "\(revision) is past the highest generation")
        }
        guard !contains(revision) else { throw RevisionTreeError(.exists, "\(revision) is in the tree already") }
        guard let parent else {
            place(RevisionNode(revision, isDeleted: isDeleted))
            return nodes.count == 1 ? .extended : .branched
        }
        guard let parentIndex = index(of: parent) else {
            throw RevisionTreeError(.unknownParent, "\(parent), the parent of \(revision), is not in the tree")
        }
        let insertion: Insertion = nodes[parentIndex].isLeaf ? .extended : .branched
        nodes[parentIndex].isSuperseded = true
        place(RevisionNode(revision, parent: parentIndex, isDeleted: isDeleted))
        return insertion
    }

    /// Adds a peer's revision with its path: a write with `new_edits=false`.
    ///
    /// No id is computed and no conflict is an error (SEMANTICS 199): the missing part of the path is added, and
    /// the newest known revision becomes the parent of the first missing one.
    ///
    ///     tree   1-a ── 2-b ── 3-c
    ///     path          2-b ── 3-x ── 4-y
    ///     then   1-a ── 2-b ─┬─ 3-c
    ///                        └─ 3-x ── 4-y
    ///
    /// A path without a common revision becomes a second root. If an older path connects the two later, they are
    /// joined (SEMANTICS 202). A known revision keeps its flags, whatever flags the peer's has.
    ///
    /// - Returns: The effect on the leaves; only ``Insertion/known`` leaves the tree unchanged.
    /// - Complexity: O(*l* + *k* log *n*) for a path of *l* revisions with *k* missing at the top; O(*n*) when roots
    ///   have to be joined.
    @discardableResult
    public mutating func insert(_ history: RevisionHistory, isDeleted: Bool) -> Insertion {
        let signatures = history.signatures
        var missing = 0
        while missing < signatures.count, !contains(history.revision(at: missing)) { missing += 1 }
        guard missing < signatures.count, let anchor = index(of: history.revision(at: missing)) else {
            let wasEmpty = isEmpty
            merge(RevisionTree(path: history, isDeleted: isDeleted))
            return wasEmpty ? .extended : .branched
        }
        let insertion: Insertion = missing == 0 ? .known : nodes[anchor].isLeaf ? .extended : .branched
        if !agrees(with: history, from: missing, at: anchor) {
            var path = RevisionTree(path: history, isDeleted: isDeleted)
            if missing == 0, let last = path.nodes.indices.last {
                path.nodes[last].isDeleted = nodes[anchor].isDeleted
            }
            let before = nodes
            merge(path)
            return missing == 0 && nodes != before ? .joined : insertion
        }
        var parent = anchor
        for step in stride(from: missing - 1, through: 0, by: -1) {
            nodes[parent].isSuperseded = true
            let node = RevisionNode(
                history.revision(at: step), parent: parent, isDeleted: step == 0 && isDeleted)
            parent = place(node)
        }
        return insertion
    }

    /// Whether the tree already has the older part of a history, all the way down from the node where they meet. A
    /// stemmed root may be anywhere on it.
    private func agrees(with history: RevisionHistory, from step: Int, at index: Int) -> Bool {
        var index = index
        for signature in history.signatures[(step + 1)...] {
            guard let parent = nodes[index].parentIndex, nodes[parent].revision.signature == signature else {
                return false
            }
            index = parent
        }
        return true
    }

    /// Inserts a node in order and shifts the parent indices after it; returns its index.
    @discardableResult
    private mutating func place(_ node: RevisionNode) -> Int {
        let position = insertionPoint(of: node.revision)
        nodes.insert(node, at: position)
        for index in nodes.indices[(position + 1)...] where nodes[index].parent >= position {
            nodes[index].parent += 1
        }
        return position
    }
}

extension RevisionTree {
    /// A tree with one branch.
    init(path history: RevisionHistory, isDeleted: Bool) {
        let count = history.signatures.count
        nodes = (0..<count).map { index in
            let isLeaf = index == count - 1
            return RevisionNode(
                history.revision(at: count - 1 - index), parent: index == 0 ? nil : index - 1,
                isDeleted: isLeaf && isDeleted, isSuperseded: !isLeaf)
        }
    }
}

// MARK: - Merge

extension RevisionTree {
    /// Adds all revisions of another tree of the same document.
    ///
    /// This is a set union: both arrays are sorted by id and walked through side by side; equal ids become one
    /// node.
    ///
    ///     ours    1-a  2-b       4-d            ours has stemmed 3-c's history away
    ///     theirs  1-a  2-b  3-c  4-d
    ///     union   1-a  2-b  3-c  4-d            4-d finds its parent again
    ///
    /// A node is a leaf of the union only if it is a leaf in each tree that contains it. If two peers claim
    /// different parents for one revision, which only forged ids can have, the greater claim is taken, so that the
    /// order of merging does not matter.
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

// MARK: - Merge Steps

extension RevisionTree {
    /// The steps in which leaves are merged: those that diverged last come first.
    ///
    ///     1-a ─┬─ 2-b ─┬─ 3-c        3-c and 3-d on 2-b, which makes one version;
    ///          │       └─ 3-d        then that one and 2-x on 1-a
    ///          └─ 2-x
    ///
    /// A branch that was closed for a survivor counts as the survivor's ancestor, as if the survivor were a child
    /// of it too. So an edit made on top of the closed revision is merged with that revision as the base, and
    /// nothing counts twice:
    ///
    ///     1-a ─┬─ 2-w ── 3-m          3-m was merged of 2-w and 2-x; 3-y is an edit of 2-x
    ///          └─ 2-x ─┬─ 3-closed for 3-m
    ///                  └─ 3-y         3-m and 3-y on 2-x, not on 1-a
    ///
    /// Each leaf's past is a set of nodes. A child comes after its parents, and a survivor counts only if it comes
    /// after the revision that was closed for it. So the last node of an intersection is a newest common ancestor.
    /// If two leaves have several, the highest is taken, which is the same on every replica.
    ///
    /// If a path was stemmed, the newest common ancestor may be among the stemmed revisions. That includes the
    /// paths of closed branches, because the survivor is based on them:
    ///
    ///     1-a ── 2-w ── 3-m           3-m was merged of 2-w and 2-y; 2-y was a child of 1-x, which was stemmed
    ///     2-y ── 3-closed for 3-m
    ///     1-x                         a leaf, as far as is known here; its base with 3-m is 1-x itself
    ///
    /// Such a step is not certain. Stemmed revisions below a base don't matter.
    ///
    /// - Parameters:
    ///   - leaves: The leaves, the winner first.
    ///   - closed: The closed revisions, each with its survivor.
    ///   - forgotten: The survivors of closed revisions that are no longer in the tree, each with the generation of
    ///     the closed revision.
    /// - Returns: The steps, each with at least two versions.
    /// - Complexity: O(*l*² *n* / 64 + *l*³) for *l* leaves.
    package func mergeSteps(
        of leaves: [RevisionID], closed: [(revision: RevisionID, survivor: RevisionID)],
        forgotten: [(generation: UInt64, survivor: RevisionID)] = []
    ) -> [MergeStep] {
        let forgotten = forgotten.compactMap { closed in
            index(of: closed.survivor).map { (generation: closed.generation, survivor: $0) }
        }
        let joints = closed.compactMap { closed -> (revision: Int, survivor: Int)? in
            guard let revision = index(of: closed.revision), let survivor = index(of: closed.survivor),
                revision < survivor
            else { return nil }
            return (revision, survivor)
        }
        var pasts = leaves.map { past(of: $0, joints) }
        var common = pasts.map { past in pasts.map { past.highestCommon(with: $0) } }
        var versions = Array(leaves.indices)
        var steps: [MergeStep] = []
        while versions.count > 1 {
            var newest = -1
            for (place, first) in versions.enumerated() {
                for second in versions[(place + 1)...] { newest = max(newest, common[first][second]) }
            }
            let merged = newest < 0 ? versions : versions.filter { pasts[$0].contains(newest) }
            let base = newest < 0 ? nil : nodes[newest].revision
            let isCertain = merged.allSatisfy { highestForgotten(in: pasts[$0], forgotten) <= base?.generation ?? 0 }
            steps.append(MergeStep(base: base, versions: merged, isCertain: isCertain))
            versions.removeAll { merged.dropFirst().contains($0) }
            for other in merged.dropFirst() { pasts[merged[0]].formUnion(pasts[other]) }
            for other in versions where other != merged[0] {
                let highest = pasts[merged[0]].highestCommon(with: pasts[other])
                (common[merged[0]][other], common[other][merged[0]]) = (highest, highest)
            }
        }
        return steps
    }

    /// The past of a revision: its ancestors and the closed revisions, including itself.
    private func past(of revision: RevisionID, _ joints: [(revision: Int, survivor: Int)]) -> NodeSet {
        var past = NodeSet(count: nodes.count)
        func add(_ index: Int?) {
            var index = index
            while let current = index, past.insert(current) { index = nodes[current].parentIndex }
        }
        add(index(of: revision))
        var isGrowing = true
        while isGrowing {
            isGrowing = false
            for joint in joints where past.contains(joint.survivor) && !past.contains(joint.revision) {
                add(joint.revision)
                isGrowing = true
            }
        }
        return past
    }

    /// The highest generation of a stemmed revision in a past; 0 if no revision was stemmed.
    private func highestForgotten(in past: NodeSet, _ closed: [(generation: UInt64, survivor: Int)]) -> UInt64 {
        var highest: UInt64 = 0
        for index in nodes.indices where nodes[index].parentIndex == nil && past.contains(index) {
            highest = max(highest, nodes[index].revision.generation - 1)
        }
        for closed in closed where past.contains(closed.survivor) { highest = max(highest, closed.generation) }
        return highest
    }
}

/// A set of node positions.
private struct NodeSet {
    private var words: [UInt64]

    init(count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

    func contains(_ index: Int) -> Bool { words[index / 64] & (1 << UInt64(index % 64)) != 0 }

    /// Adds a position; returns `false` if the set has it already.
    mutating func insert(_ index: Int) -> Bool {
        guard !contains(index) else { return false }
        words[index / 64] |= 1 << UInt64(index % 64)
        return true
    }

    mutating func formUnion(_ other: NodeSet) {
        for index in words.indices { words[index] |= other.words[index] }
    }

    /// The highest position in both sets; -1 if they share no position.
    func highestCommon(with other: NodeSet) -> Int {
        for index in words.indices.reversed() {
            let both = words[index] & other.words[index]
            if both != 0 { return index * 64 + 63 - both.leadingZeroBitCount }
        }
        return -1
    }
}

// MARK: - MergeStep

/// One step of merging the leaves of a document: some versions and their base.
package struct MergeStep: Hashable, Sendable {
    /// The newest common ancestor of all versions; `nil` if they share no ancestor.
    package let base: RevisionID?
    /// The leaves, as ascending positions in the given list; from then on, the first one stands for the result.
    package let versions: [Int]
    /// Whether ``base`` is known to be the newest: no newer common ancestor can have been stemmed. Without a base,
    /// whether the full history is known, down to the first generation.
    package let isCertain: Bool
}
