import SettleCore

/// Bytes read as a packed revision tree.
enum TreeTarget {
    static func run(_ bytes: [UInt8]) throws {
        guard let tree = try? RevisionTree(packed: bytes) else { return }
        try require(tree.brokenInvariant == nil, "a tree that is read holds its invariants")
        try require(tree.packed() == bytes, "there is one packed form of a tree")
        try use(tree)
    }

    /// An app's operations on a tree must also hold for one from a damaged file.
    private static func use(_ tree: RevisionTree) throws {
        try require((tree.winner == nil) == tree.isEmpty, "a tree with revisions has a winner")
        _ = (tree.conflicts, tree.branchPoints, tree.isConflicted, tree.isDeleted)
        for leaf in tree.leaves.prefix(8) {
            guard let history = tree.history(of: leaf.revision) else { throw FuzzFailure("a leaf has a history") }
            try require(history.revision == leaf.revision, "a history begins with its revision")
            _ = tree.sharedAncestor(of: leaf.revision)
            var grown = tree
            grown.insert(history, isDeleted: leaf.isDeleted)
            try require(grown == tree, "a history that is known changes nothing")
            let next = RevisionID(generation: leaf.revision.generation &+ 1, signature: leaf.revision.signature)
            if let above = next, !tree.contains(above) {
                try grown.insert(above, parent: leaf.revision, isDeleted: false)
                try require(grown.brokenInvariant == nil, "an edit keeps the invariants")
            }
        }
        try use(marksOf: tree)
        var merged = tree
        merged.merge(tree)
        try require(merged == tree, "merging a tree with itself changes nothing")
        for limit in [1, 3] {
            var stemmed = tree
            stemmed.stem(to: limit)
            try require(stemmed.brokenInvariant == nil, "stemming keeps the invariants")
            try require(stemmed.leaves.map(\.revision) == tree.leaves.map(\.revision), "stemming keeps the leaves")
        }
        var purged = tree
        purged.purge(tree.leaves.prefix(1).map(\.revision))
        try require(purged.brokenInvariant == nil, "purging keeps the invariants")
    }

    /// Marks and the deletions they identify.
    private static func use(marksOf tree: RevisionTree) throws {
        let deletions = tree.disputedDeletions
        for deletion in deletions {
            let node = tree[deletion]
            try require(
                node?.isLeaf == true && node?.isDeleted == true, "a disputed deletion is a tombstone and a leaf")
            try require(node?.marks.contains(.closing) == false, "a closing tombstone is no deletion")
        }
        try require(deletions.isEmpty || !tree.isDeleted, "a deletion is disputed by a live leaf")
        try require(
            tree.isContested == (!deletions.isEmpty && !tree.isConflicted), "a document is contested or in conflict")
        for (index, node) in tree.allNodes.prefix(8).enumerated() {
            let marks = RevisionMarks(rawValue: UInt8(index % 7 + 1))
            var marked = tree
            let isNews = marked.mark(node.revision, marks)
            try require(isNews == !node.marks.isSuperset(of: marks), "only news is news")
            let packed = marked.packed()
            try require(try RevisionTree(packed: packed) == marked, "a marked tree comes back")
            try require((packed == tree.packed()) == !isNews, "marks are packed")
        }
    }
}
