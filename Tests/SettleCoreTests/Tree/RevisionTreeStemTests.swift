import SettleCore
import Testing

@Suite struct RevisionTreeStemTests {
    @Test(arguments: [
        (1, ["5-e"]), (2, ["4-d", "5-e<4-d"]), (3, ["3-c", "4-d<3-c", "5-e<4-d"]),
        (4, ["2-b", "3-c<2-b", "4-d<3-c", "5-e<4-d"]), (5, ["1-a", "2-b<1-a", "3-c<2-b", "4-d<3-c", "5-e<4-d"]),
        (6, ["1-a", "2-b<1-a", "3-c<2-b", "4-d<3-c", "5-e<4-d"]),
        (.max, ["1-a", "2-b<1-a", "3-c<2-b", "4-d<3-c", "5-e<4-d"]),
    ])
    func `a branch keeps at most as many revisions as the limit`(limit: Int, edges: [String]) {
        var tree = tree("1-a 2-b 3-c 4-d 5-e")
        let dropped = tree.stem(to: limit)
        #expect(tree.edges == edges)
        #expect(dropped.map(\.revision) == ["1-a", "2-b", "3-c", "4-d", "5-e"].dropLast(edges.count))
        #expect(tree.brokenInvariant == nil)
    }

    @Test func `an ancestor within the limit of any leaf is kept`() {
        var tree = tree("1-a 2-b 3-c 4-d 5-e", "1-a 2-b 3-x")
        #expect(tree.stem(to: 3) == [])
        #expect(tree.stem(to: 2).map(\.revision) == ["1-a", "3-c"])
        #expect(tree.edges == ["2-b", "3-x<2-b", "4-d", "5-e<4-d"])
    }

    // SEMANTICS 202
    @Test func `branches that part beyond the limit become roots of their own`() {
        var tree = tree("1-a 2-b 3-c 4-d", "1-a 2-b 3-x 4-y!")
        tree.stem(to: 2)
        #expect(tree.edges == ["3-c", "3-x", "4-d<3-c", "4-y<3-x"])
        #expect(tree.leafNotation == ["4-d", "4-y!"])
        #expect(tree.commonAncestor(of: "4-d", "4-y") == nil)
        #expect(tree.branchPoints.isEmpty)
    }

    // SEMANTICS 202
    @Test func `roots that stemming separated are joined when the whole path arrives`() throws {
        let whole = tree("1-a 2-b 3-c 4-d", "1-a 2-b 3-x 4-y")
        var stemmed = whole
        stemmed.stem(to: 1)
        #expect(stemmed.edges == ["4-d", "4-y"])
        for leaf: RevisionID in ["4-d", "4-y"] {
            #expect(stemmed.insert(try #require(whole.history(of: leaf)), isDeleted: false) == .joined)
        }
        #expect(stemmed == whole)
    }

    @Test(arguments: [0, -1, Int.min])
    func `a limit below 1 keeps only the leaves`(limit: Int) {
        var tree = tree("1-a 2-b", "1-a 2-c!")
        tree.stem(to: limit)
        #expect(tree.edges == ["2-b", "2-c"])
        #expect(tree.leafNotation == ["2-b", "2-c!"])
    }

    @Test func `dropped nodes are returned with their marks`() {
        var tree = tree("1-a 2-b 3-c")
        tree.setBodyToken(11, of: "1-a")
        tree.markShared("2-b")
        let dropped = tree.stem(to: 1)
        #expect(dropped.map(\.bodyToken) == [11, 0])
        #expect(dropped.map(\.isShared) == [false, true])
    }

    @Test func `an empty tree and a single revision are unchanged`() {
        var empty = RevisionTree()
        #expect(empty.stem(to: 1) == [])
        #expect(empty.isEmpty)
        var single = tree("7-a")
        #expect(single.stem(to: 1) == [])
        #expect(single == tree("7-a"))
    }

    @Test func `an edit on a stemmed branch continues counting generations`() throws {
        var tree = tree("1-a 2-b 3-c")
        tree.stem(to: 1)
        try tree.insert("4-d", parent: "3-c", isDeleted: false)
        #expect(tree.edges == ["3-c", "4-d<3-c"])
    }
}
