extension RevisionTree {
    /// Records where the store keeps the body of a revision, 0 if it is not kept; unknown revisions are ignored.
    package mutating func setBodyToken(_ token: UInt64, of revision: RevisionID) {
        if let index = index(of: revision) { nodes[index].bodyToken = token }
    }

    /// Records whether an inner revision deleted the document, once that is known; leaves and unknown revisions are
    /// ignored.
    package mutating func setDeleted(_ isDeleted: Bool, of revision: RevisionID) {
        if let index = index(of: revision), nodes[index].isSuperseded { nodes[index].isDeleted = isDeleted }
    }

    /// Records that a peer has a revision; unknown revisions are ignored. Returns whether the tree changed.
    @discardableResult
    package mutating func markShared(_ revision: RevisionID) -> Bool {
        guard let index = index(of: revision), !nodes[index].isShared else { return false }
        nodes[index].isShared = true
        return true
    }

    /// Adds marks to those of a revision; unknown revisions are ignored. Returns whether the tree changed.
    @discardableResult
    package mutating func mark(_ revision: RevisionID, _ marks: RevisionMarks) -> Bool {
        guard let index = index(of: revision), !nodes[index].marks.isSuperset(of: marks) else { return false }
        nodes[index].marks.formUnion(marks)
        return true
    }

    /// The newest revision that a peer has on the path back from this one, itself included, or `nil`.
    package func sharedAncestor(of revision: RevisionID) -> RevisionID? {
        var index = index(of: revision)
        while let current = index {
            if nodes[current].isShared { return nodes[current].revision }
            index = nodes[current].parentIndex
        }
        return nil
    }

    /// Every node in ascending order, parents before their children.
    package var allNodes: [RevisionNode] { nodes }

    /// A description of the first violated invariant of the tree, or `nil` if all hold.
    package var brokenInvariant: String? {
        // A fast path: nearly every document has one revision, and every read checks this.
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
