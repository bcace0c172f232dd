import SettleCore
import Testing

/// Every forest of a few revisions, every choice of deleted leaves, every order of insertion.
@Suite struct RevisionTreeEveryOrderTests {
    // SEMANTICS 60, 62, 63, 66, 67
    @Test(arguments: [(1, 1), (2, 1), (3, 1), (4, 1), (5, 0)])
    func `the paths of the leaves give the tree of the plain model in every order`(count: Int, stemmed: Int) {
        for forest in SmallForest.all(of: count, stemmed: stemmed) {
            let histories = forest.leaves.map { forest.history(of: $0) }
            let orders = permutations(of: Array(histories.indices))
            for deleted in subsets(of: Array(histories.indices)) {
                var model = ReferenceTree()
                for index in histories.indices {
                    model.insert(histories[index], isDeleted: deleted.contains(index))
                }
                var first: RevisionTree?
                for order in orders {
                    var tree = RevisionTree()
                    for index in order { tree.insert(histories[index], isDeleted: deleted.contains(index)) }
                    if first == nil {
                        first = tree
                        guard let problem = Self.problem(with: tree, model, forest, deleted) else { continue }
                        Issue.record("\(forest), deleted \(deleted), in the order \(order): \(problem)")
                        return
                    }
                    guard tree == first else {
                        Issue.record("\(forest), deleted \(deleted), in the order \(order): \(tree.edges)")
                        return
                    }
                }
            }
        }
    }

    private static func problem(
        with tree: RevisionTree, _ model: ReferenceTree, _ forest: SmallForest, _ deleted: [Int]
    ) -> String? {
        if let difference = tree.difference(from: model) { return difference }
        let live = forest.leaves.count - deleted.count
        if tree.isConflicted != (live > 1) { return "conflicted \(tree.isConflicted)" }
        if tree.isDeleted != (live == 0) { return "deleted \(tree.isDeleted)" }
        if tree.conflicts.count != max(live - 1, 0) { return "conflicts \(tree.conflicts)" }
        let losers = deleted.count - (live == 0 ? 1 : 0)
        return tree.deletedConflicts.count == losers ? nil : "deleted conflicts \(tree.deletedConflicts)"
    }

    // SEMANTICS 199, 200, 202
    @Test(arguments: [1, 2, 3, 4])
    func `every three pieces of paths join to the tree of the plain model`(count: Int) {
        for forest in SmallForest.all(of: count) {
            let pieces = (0..<count).flatMap { number in
                let revisions = forest.history(of: number).revisions
                return revisions.indices.map { path(Array(revisions[...$0])) }
            }
            for first in pieces {
                for second in pieces {
                    for third in pieces {
                        guard let problem = Self.problem(joining: [first, second, third]) else { continue }
                        Issue.record("\([first, second, third].map(\.revisions)): \(problem)")
                        return
                    }
                }
            }
        }
    }

    private static func problem(joining pieces: [RevisionHistory]) -> String? {
        var tree = RevisionTree()
        var model = ReferenceTree()
        for piece in pieces {
            let before = model
            model.insert(piece, isDeleted: false)
            let insertion = tree.insert(piece, isDeleted: false)
            if (insertion == .known) != (model == before) { return "\(insertion) of \(piece.revisions)" }
        }
        return tree.difference(from: model)
    }
}
