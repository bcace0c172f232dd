extension RevisionTree {
    /// Notes where the store keeps the body of a revision, 0 for nowhere; unknown revisions are ignored.
    public mutating func setBodyToken(_ token: UInt64, of revision: RevisionID) {
        if let index = index(of: revision) { nodes[index].bodyToken = token }
    }

    /// Notes whether an inner revision deleted the document, once that is known; leaves and unknown ones are left alone.
    package mutating func setDeleted(_ isDeleted: Bool, of revision: RevisionID) {
        if let index = index(of: revision), nodes[index].isSuperseded { nodes[index].isDeleted = isDeleted }
    }

    /// Notes that a peer holds a revision; unknown revisions are ignored. Returns whether that was news.
    @discardableResult
    public mutating func markShared(_ revision: RevisionID) -> Bool {
        guard let index = index(of: revision), !nodes[index].isShared else { return false }
        nodes[index].isShared = true
        return true
    }

    /// Notes what is known of a revision, besides what was known before; unknown revisions are ignored. Returns whether
    /// that was news.
    @discardableResult
    public mutating func mark(_ revision: RevisionID, _ marks: RevisionMarks) -> Bool {
        guard let index = index(of: revision), !nodes[index].marks.isSuperset(of: marks) else { return false }
        nodes[index].marks.formUnion(marks)
        return true
    }

    /// The newest revision on the path back from this one that a peer holds, itself included, or `nil`.
    public func sharedAncestor(of revision: RevisionID) -> RevisionID? {
        var index = index(of: revision)
        while let current = index {
            if nodes[current].isShared { return nodes[current].revision }
            index = nodes[current].parentIndex
        }
        return nil
    }

    /// Every node in ascending order, parents before their children.
    public var allNodes: [RevisionNode] { nodes }

    /// The first of the tree's invariants that does not hold, in words, or `nil` when all do.
    public var brokenInvariant: String? {
        // Nearly every document has one revision, and every read of it asks.
        if nodes.count == 1, nodes[0].isLeaf, nodes[0].parent < 0 { return nil }
        var hasChild = [Bool](repeating: false, count: nodes.count)
        for (index, node) in nodes.enumerated() {
            if index > 0, nodes[index - 1].revision >= node.revision { return "\(node.revision) is out of order" }
            guard let parent = node.parentIndex else { continue }
            guard parent < index, nodes[parent].revision.generation + 1 == node.revision.generation else {
                return "\(node.revision) has a parent that is not one generation below it"
            }
            hasChild[parent] = true
        }
        for (index, node) in nodes.enumerated() where hasChild[index] && node.isLeaf {
            return "\(node.revision) has children and counts as a leaf"
        }
        return nodes.last?.isLeaf == false ? "the highest revision is no leaf" : nil
    }
}
