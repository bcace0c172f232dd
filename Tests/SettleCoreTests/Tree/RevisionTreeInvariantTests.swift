import Testing

@testable import SettleCore

@Suite struct RevisionTreeInvariantTests {
    @Test func `every kind of broken tree is detected`() {
        let leaf = RevisionNode("1-a")
        let inner = RevisionNode("1-a", isSuperseded: true)
        let broken: [(nodes: [RevisionNode], says: String)] = [
            ([RevisionNode("1-b"), leaf], "1-a is out of order"),
            ([leaf, leaf], "1-a is out of order"),
            ([RevisionNode("10-a"), RevisionNode("9-a")], "9-a is out of order"),
            ([inner, RevisionNode("3-c", parent: 0)], "3-c has a parent that is not one generation below it"),
            ([inner, RevisionNode("1-b", parent: 0)], "1-b has a parent that is not one generation below it"),
            ([RevisionNode("1-a", parent: 0)], "1-a has a parent that is not one generation below it"),
            ([RevisionNode("1-a", parent: 5)], "1-a has a parent that is not one generation below it"),
            ([leaf, RevisionNode("2-b", parent: 0)], "1-a has children and counts as a leaf"),
            ([inner], "the highest revision is not a leaf"),
            ([leaf, RevisionNode("1-b", isSuperseded: true)], "the highest revision is not a leaf"),
        ]
        for (nodes, says) in broken { #expect(RevisionTree(nodes: nodes).brokenInvariant == says) }
    }

    @Test func `valid trees violate no invariant`() {
        #expect(RevisionTree().brokenInvariant == nil)
        #expect(tree("1-a 2-b 3-c", "1-a 2-x!", "9-q").brokenInvariant == nil)
        let detached = RevisionTree(nodes: [RevisionNode("1-a", isSuperseded: true), RevisionNode("2-b")])
        #expect(detached.brokenInvariant == nil)
    }

    @Test func `merging two valid trees always leaves a leaf`() {
        let states = [
            [RevisionNode("1-a"), RevisionNode("1-b")],
            [RevisionNode("1-a"), RevisionNode("1-b", isSuperseded: true)],
            [RevisionNode("1-a", isSuperseded: true), RevisionNode("1-b")],
            [RevisionNode("1-b")], [RevisionNode("1-a")], [],
        ].map { RevisionTree(nodes: $0) }.filter { $0.brokenInvariant == nil }
        #expect(states.count == 5)
        for left in states {
            for right in states {
                let union = left.merging(right)
                #expect(union.brokenInvariant == nil)
                #expect((union.winner == nil) == union.isEmpty)
            }
        }
    }
}
