import SettleCore
import Testing

/// Every forest of a few revisions, and every pair of replicas that know parts of it.
@Suite struct RevisionTreeEveryMergeTests {
    /// The trees of all parts of a forest, each stemmed to every limit.
    private static func states(of forest: SmallForest, limits: [Int]) -> [RevisionTree] {
        let states = forest.subhistories.flatMap { part in
            limits.map { limit in
                var tree = RevisionTree()
                for number in part { tree.insert(forest.history(of: number), isDeleted: number % 3 == 2) }
                tree.stem(to: limit)
                return tree
            }
        }
        return Array(Set(states))
    }

    private static func problem(merging left: RevisionTree, _ right: RevisionTree) -> String? {
        let union = left.merging(right)
        if union != right.merging(left) { return "merging does not commute" }
        if union.merging(right) != union { return "merging again changes something" }
        var model = ReferenceTree(left)
        model.merge(ReferenceTree(right))
        return union.difference(from: model)
    }

    // SEMANTICS 60, 62, 202
    @Test(arguments: [(1, [9, 1]), (2, [9, 1]), (3, [9, 1, 2]), (4, [9, 1, 2]), (5, [9])])
    func `every pair of parts merges to the union of the plain model`(count: Int, limits: [Int]) {
        for forest in SmallForest.all(of: count) {
            let states = Self.states(of: forest, limits: limits)
            for (index, left) in states.enumerated() {
                for right in states[index...] {
                    guard let problem = Self.problem(merging: left, right) else { continue }
                    Issue.record("\(forest), \(left.edges) with \(right.edges): \(problem)")
                    return
                }
            }
        }
    }

    @Test(arguments: [1, 2, 3])
    func `every three parts merge to the same tree in any grouping`(count: Int) {
        for forest in SmallForest.all(of: count) {
            let states = Self.states(of: forest, limits: [9, 1, 2])
            for first in states {
                for second in states {
                    let pair = first.merging(second)
                    for third in states where pair.merging(third) != first.merging(second.merging(third)) {
                        Issue.record("\(forest): \(first.edges), \(second.edges), \(third.edges)")
                        return
                    }
                }
            }
        }
    }

    // SEMANTICS 60, 202; COUCHDB-FACTS 36
    @Test(arguments: [1, 2, 3, 4, 5])
    func `every stem and every purge of every forest agrees with the plain model`(count: Int) {
        for forest in SmallForest.all(of: count) {
            var tree = RevisionTree()
            for leaf in forest.leaves { tree.insert(forest.history(of: leaf), isDeleted: false) }
            for limit in 1...count {
                var (stemmed, model) = (tree, ReferenceTree(tree))
                stemmed.stem(to: limit)
                model.stem(to: limit)
                guard let difference = stemmed.difference(from: model) else { continue }
                Issue.record("\(forest) stemmed to \(limit): \(difference)")
                return
            }
            for asked in subsets(of: forest.leaves.map { forest.revisions[$0] }) {
                var (purged, model) = (tree, ReferenceTree(tree))
                purged.purge(asked)
                model.purge(asked)
                guard let difference = purged.difference(from: model) else { continue }
                Issue.record("\(forest) without \(asked): \(difference)")
                return
            }
        }
    }
}
