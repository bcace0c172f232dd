extension RevisionTree {
    /// The steps in which leaves are merged: those that diverged last first.
    ///
    ///     1-a ─┬─ 2-b ─┬─ 3-c        3-c and 3-d on 2-b, which makes one version;
    ///          │       └─ 3-d        then that one and 2-x on 1-a
    ///          └─ 2-x
    ///
    /// A branch that was closed for a survivor counts as its ancestor, as if the survivor were its child too. So an
    /// edit made on top of the closed revision is merged with that revision as base, and nothing counts twice:
    ///
    ///     1-a ─┬─ 2-w ── 3-m          3-m was merged of 2-w and 2-x; 3-y is an edit of 2-x
    ///          └─ 2-x ─┬─ 3-closed for 3-m
    ///                  └─ 3-y         3-m and 3-y on 2-x, not on 1-a
    ///
    /// Each leaf's past is a set of nodes. A child comes after its parents, and only a survivor that comes after the
    /// revision closed for it counts, so the last node of an intersection is a newest common ancestor. If two leaves
    /// have several, the highest is taken, the same on every copy.
    ///
    /// If a path was stemmed, the newest common ancestor may be among the forgotten revisions. That includes the
    /// paths of closed branches, since the survivor is based on them:
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

    /// The past of a revision: its ancestors and closed revisions, itself included.
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

    /// The highest position in both, or -1.
    func highestCommon(with other: NodeSet) -> Int {
        for index in words.indices.reversed() {
            let both = words[index] & other.words[index]
            if both != 0 { return index * 64 + 63 - both.leadingZeroBitCount }
        }
        return -1
    }
}
