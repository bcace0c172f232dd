import SettleCore
import Testing

@Suite struct RevisionTreeMergeTests {
    @Test func `the union has the branches of both sides`() {
        let union = tree("1-a 2-b 3-c").merging(tree("1-a 2-x", "1-a 2-b 3-0"))
        #expect(union.edges == ["1-a", "2-b<1-a", "2-x<1-a", "3-0<2-b", "3-c<2-b"])
        #expect(union.leafNotation == ["3-c", "3-0", "2-x"])
    }

    @Test func `a leaf that the other side has edited is a leaf no longer`() {
        let union = tree("1-a 2-b").merging(tree("1-a 2-b 3-c!"))
        #expect(union == tree("1-a 2-b 3-c!"))
        #expect(union.leafNotation == ["3-c!"])
    }

    // SEMANTICS 202
    @Test func `a stemmed root is joined to its parent again`() {
        let union = tree("1-a 2-b", "4-d").merging(tree("1-a 2-b 3-c 4-d"))
        #expect(union == tree("1-a 2-b 3-c 4-d"))
    }

    // SEMANTICS 202
    @Test func `a known parent is kept when the other side has stemmed it away`() {
        #expect(tree("1-a 2-b 3-c").merging(tree("3-c")) == tree("1-a 2-b 3-c"))
        #expect(tree("3-c 4-d").merging(tree("1-a 2-b 3-c")) == tree("1-a 2-b 3-c 4-d"))
    }

    @Test func `unrelated trees are kept side by side`() {
        let union = tree("1-a").merging(tree("5-e 6-f"))
        #expect(union.edges == ["1-a", "5-e", "6-f<5-e"])
        #expect(union.brokenInvariant == nil)
    }

    @Test func `the empty tree is neutral`() {
        let tree = tree("1-a 2-b", "1-a 2-c!", "5-e")
        #expect(tree.merging(RevisionTree()) == tree)
        #expect(RevisionTree().merging(tree) == tree)
        #expect(RevisionTree().merging(RevisionTree()).isEmpty)
    }

    @Test func `the union has every mark that either side has`() {
        var left = tree("1-a 2-b")
        var right = tree("1-a 2-b")
        left.markShared("1-a")
        right.markShared("2-b")
        left.setBodyToken(4, of: "2-b")
        right.setBodyToken(9, of: "2-b")
        right.setBodyToken(2, of: "1-a")
        for union in [left.merging(right), right.merging(left)] {
            #expect(union.allNodes.map(\.isShared) == [true, true])
            #expect(union.allNodes.map(\.bodyToken) == [2, 9])
        }
    }

    @Test func `an inner revision that either side has as a tombstone is one`() {
        let path = tree("1-a 2-b 3-c")
        let tombstone = tree("1-a 2-b!")
        #expect(path["2-b"]?.isDeleted == false)
        #expect(path.merging(tombstone)["2-b"]?.isDeleted == true)
        #expect(tombstone.merging(path)["2-b"]?.isDeleted == true)
        #expect(tombstone.merging(path).leafNotation == ["3-c"])
    }

    @Test func `merging leaves the other tree unchanged`() {
        let left = tree("1-a 2-b")
        let right = tree("1-a 2-c")
        _ = left.merging(right)
        #expect(left == tree("1-a 2-b"))
        #expect(right == tree("1-a 2-c"))
    }

    @Test func `a revision whose child has moved to another parent does not become a leaf`() {
        let union = tree("1-a 2-b").merging(tree("1-z 2-b"))
        #expect(union.leafNotation == ["2-b"])
        #expect(union["1-a"]?.isSuperseded == true)
    }
}
