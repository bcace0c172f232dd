extension RevisionTree {
    /// The effect of an insertion on the tree.
    public enum Insertion: Hashable, Sendable {
        /// The revision was known, and so was its path; the tree is unchanged (SEMANTICS 200).
        case known
        /// The revision was known, but not all of its path: the tree knows more ancestors, and a former leaf may have
        /// got a child (SEMANTICS 202).
        case joined
        /// The revision continues a leaf.
        case extended
        /// The revision started a branch: on an inner revision, or as another root.
        case branched
    }

    /// Adds a local edit.
    ///
    /// The caller decides whether an edit on an inner revision is allowed: here it starts a branch.
    ///
    /// - Parameters:
    ///   - revision: The edit's id, one generation above its parent.
    ///   - parent: The revision the edit was made on, or `nil` for generation 1.
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
    /// No id is computed and no conflict is an error (SEMANTICS 199): the missing part of the path is added, and the
    /// newest known revision becomes the parent of the first missing one.
    ///
    ///     tree   1-a ── 2-b ── 3-c
    ///     path          2-b ── 3-x ── 4-y
    ///     then   1-a ── 2-b ─┬─ 3-c
    ///                        └─ 3-x ── 4-y
    ///
    /// A path without a common revision becomes a second root; if an older path connects the two later, they are
    /// joined (SEMANTICS 202). A known revision keeps its flags, regardless of the peer's.
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

    /// Whether the tree already has the older part of a history, all the way down from the node where they meet: a
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
