import SettleCore
import Testing

/// Branches that stemming has detached, and how they are joined again (SEMANTICS 202, apache/couchdb#2501).
@Suite struct RevisionTreeDetachedRootTests {
    @Test func `a path that shares no kept ancestor becomes a second root`() {
        var tree = tree("1-a 2-b")
        #expect(tree.insert(path("6-z", "5-y"), isDeleted: false) == .branched)
        #expect(tree.edges == ["1-a", "2-b<1-a", "5-y", "6-z<5-y"])
        #expect(tree.leafNotation == ["6-z", "2-b"])
    }

    @Test func `an older path joins two roots`() {
        var tree = tree("1-a 2-b", "4-d 5-e")
        #expect(tree.insert(path("6-f", "5-e", "4-d", "3-c", "2-b"), isDeleted: false) == .extended)
        #expect(tree.edges == ["1-a", "2-b<1-a", "3-c<2-b", "4-d<3-c", "5-e<4-d", "6-f<5-e"])
        #expect(tree.leafNotation == ["6-f"])
    }

    @Test func `a path that meets the tree above its root adds the older revisions too`() {
        var tree = tree("3-c 4-d")
        #expect(tree.insert(path("5-e", "4-d", "3-c", "2-b", "1-a"), isDeleted: false) == .extended)
        #expect(tree.edges == ["1-a", "2-b<1-a", "3-c<2-b", "4-d<3-c", "5-e<4-d"])
    }

    @Test func `a branch and the path that joins it give the same tree in either order`() {
        let histories = [path("2-b", "1-a"), path("4-d", "3-c"), path("5-e", "4-d", "3-c", "2-b")]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            var tree = RevisionTree()
            for index in order { tree.insert(histories[index], isDeleted: false) }
            #expect(tree.edges == ["1-a", "2-b<1-a", "3-c<2-b", "4-d<3-c", "5-e<4-d"], "in the order \(order)")
            #expect(tree.leafNotation == ["5-e"], "in the order \(order)")
        }
    }

    @Test func `a known revision whose path joins a root is distinguished from one that changes nothing`() {
        var tree = tree("2-b", "3-c 4-d!")
        tree.markShared("4-d")
        #expect(tree.insert(path("4-d", "3-c", "2-b"), isDeleted: false) == .joined)
        #expect(tree.edges == ["2-b", "3-c<2-b", "4-d<3-c"])
        #expect(tree.leafNotation == ["4-d!"])
        #expect(tree["4-d"]?.isShared == true)
        #expect(tree.insert(path("4-d", "3-c", "2-b"), isDeleted: false) == .known)
    }

    @Test func `a known inner revision stays inner when its path reaches further down`() {
        var tree = tree("3-c 4-d")
        #expect(tree.insert(path("3-c", "2-b", "1-a"), isDeleted: true) == .joined)
        #expect(tree.edges == ["1-a", "2-b<1-a", "3-c<2-b", "4-d<3-c"])
        #expect(tree.leafNotation == ["4-d"])
        #expect(tree["3-c"]?.isDeleted == false)
    }

    @Test func `a path of older revisions alone stays detached from the root it leads to`() {
        var tree = tree("3-c")
        #expect(tree.insert(path("2-b", "1-a"), isDeleted: false) == .branched)
        #expect(tree.leafNotation == ["3-c", "2-b"])
        #expect(tree.insert(path("3-c", "2-b"), isDeleted: false) == .joined)
        #expect(tree.leafNotation == ["3-c"])
    }

    @Test func `one path may join three roots`() {
        var tree = tree("1-a", "3-c", "5-e", "3-x")
        #expect(tree.insert(path("5-e", "4-d", "3-c", "2-b", "1-a"), isDeleted: false) == .joined)
        #expect(tree.edges == ["1-a", "2-b<1-a", "3-c<2-b", "3-x", "4-d<3-c", "5-e<4-d"])
        #expect(tree.leafNotation == ["5-e", "3-x"])
    }

    @Test func `of two contradicting parents the greater is kept, in either order`() {
        let honest = tree("1-a 2-b 3-c")
        let other = tree("1-z 2-b 3-c")
        #expect(honest.merging(other) == other.merging(honest))
        #expect(honest.merging(other).parent(of: "2-b") == "1-z")
        #expect(honest.merging(other).leafNotation == ["3-c"])
        #expect(honest.merging(other).brokenInvariant == nil)
        var inserted = honest
        #expect(inserted.insert(path("2-b", "1-z"), isDeleted: false) == .joined)
        #expect(inserted == honest.merging(other))
        #expect(inserted.insert(path("2-b", "1-a"), isDeleted: false) == .known)
    }
}
