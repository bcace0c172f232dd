import SettleCore
import Testing

/// COUCHDB-FACTS 36.
@Suite struct RevisionTreePurgeTests {
    @Test func `purging a leaf drops the ancestors of no other leaf`() {
        var tree = tree("1-a 2-b 3-c 4-d", "1-a 2-b 3-x")
        #expect(tree.purge(["4-d"]).map(\.revision) == ["3-c", "4-d"])
        #expect(tree.edges == ["1-a", "2-b<1-a", "3-x<2-b"])
        #expect(tree.leafNotation == ["3-x"])
    }

    @Test func `purging every leaf leaves an empty tree`() {
        var tree = tree("1-a 2-b", "1-a 2-c!", "5-e")
        #expect(tree.purge(["2-c", "5-e", "2-b"]).count == 4)
        #expect(tree == RevisionTree())
        #expect(tree.brokenInvariant == nil)
    }

    @Test func `inner and unknown revisions are ignored`() {
        let before = tree("1-a 2-b 3-c", "1-a 2-x")
        var tree = before
        #expect(tree.purge([]) == [])
        #expect(tree.purge(["1-a", "2-b", "3-q", "9-z"]) == [])
        #expect(tree == before)
        #expect(tree.purge(["1-a", "2-x"]).map(\.revision) == ["2-x"])
    }

    @Test func `naming a leaf twice, or with its parent, purges it once`() {
        var tree = tree("1-a 2-b 3-c", "1-a 2-x")
        #expect(tree.purge(["3-c", "2-b", "3-c"]).map(\.revision) == ["2-b", "3-c"])
        #expect(tree.edges == ["1-a", "2-x<1-a"])
    }

    @Test func `the purged leaf's parent does not become a leaf`() {
        var tree = tree("1-a 2-b", "1-a 2-c 3-d")
        tree.purge(["3-d"])
        #expect(tree.leafNotation == ["2-b"])
        #expect(!tree.contains("2-c"))
    }

    @Test func `a tombstone can be purged, and another leaf becomes the winner`() {
        var tree = tree("1-a 2-b!", "1-a 2-c")
        tree.purge(["2-c"])
        #expect(tree.isDeleted)
        #expect(tree.winner?.revision == "2-b")
    }

    @Test func `a purged revision can come back`() {
        let before = tree("1-a 2-b 3-c", "1-a 2-x")
        var tree = before
        tree.purge(["3-c"])
        #expect(tree.insert(path("3-c", "2-b", "1-a"), isDeleted: false) == .branched)
        #expect(tree == before)
    }

    @Test func `dropped nodes are returned with their tokens`() {
        var tree = tree("1-a 2-b")
        tree.setBodyToken(3, of: "2-b")
        #expect(tree.purge(["2-b"]).map(\.bodyToken) == [0, 3])
    }
}
