import SettleCore
import Testing

/// Writes with `new_edits=false`.
@Suite struct RevisionTreeReplicatedInsertTests {
    // SEMANTICS 199
    @Test func `a path into an empty tree gives the whole tree`() {
        var tree = RevisionTree()
        #expect(tree.insert(path("3-c", "2-b", "1-a"), isDeleted: false) == .extended)
        #expect(tree.edges == ["1-a", "2-b<1-a", "3-c<2-b"])
        #expect(tree.leafNotation == ["3-c"])
    }

    // SEMANTICS 199
    @Test func `only the missing newest revisions of a path are added`() {
        var tree = tree("1-a 2-b")
        #expect(tree.insert(path("4-d", "3-c", "2-b", "1-a"), isDeleted: false) == .extended)
        #expect(tree.edges == ["1-a", "2-b<1-a", "3-c<2-b", "4-d<3-c"])
        #expect(tree.leafNotation == ["4-d"])
    }

    // SEMANTICS 61, 199
    @Test func `a path from an inner revision begins a branch`() {
        var tree = tree("1-a 2-b 3-c")
        #expect(tree.insert(path("4-y", "3-x", "2-b"), isDeleted: false) == .branched)
        #expect(tree.edges == ["1-a", "2-b<1-a", "3-c<2-b", "3-x<2-b", "4-y<3-x"])
        #expect(tree.leafNotation == ["4-y", "3-c"])
    }

    // SEMANTICS 199: the id is trusted, whatever it looks like
    @Test func `ids are taken as given, in any form`() {
        var tree = tree("1-967a00dff5e02add41819138abb3284d")
        tree.insert(path("2-", "1-967A00DFF5E02ADD41819138ABB3284D"), isDeleted: false)
        tree.insert(path("2-0123456789012345678901234567890123456789"), isDeleted: false)
        #expect(tree.count == 3)
        #expect(tree.leafNotation == ["2-0123456789012345678901234567890123456789", "2-"])
        #expect(tree.parent(of: "2-") == "1-967a00dff5e02add41819138abb3284d")
    }

    // SEMANTICS 200
    @Test(
        arguments: [
            path("3-c", "2-b", "1-a"), path("3-c", "2-b"), path("3-c"), path("2-b", "1-a"), path("2-b"), path("1-a"),
            path("3-x", "2-b"),
        ], [false, true])
    func `inserting a known revision again changes nothing`(history: RevisionHistory, isDeleted: Bool) {
        var written = tree("1-a 2-b 3-c", "1-a 2-b 3-x!")
        written.markShared("3-c")
        written.setBodyToken(7, of: "3-x")
        let before = written
        #expect(written.insert(history, isDeleted: isDeleted) == .known)
        #expect(written == before)
        #expect(written.packed() == before.packed())
    }

    @Test func `only the newest revision of a path is a tombstone`() {
        var tree = RevisionTree()
        tree.insert(path("3-c", "2-b", "1-a"), isDeleted: true)
        #expect(tree.allNodes.map(\.isDeleted) == [false, false, true])
    }

    // SEMANTICS 88
    @Test func `a path that extends a tombstone revives the document`() {
        var tree = tree("1-a 2-b!")
        #expect(tree.insert(path("3-c", "2-b", "1-a"), isDeleted: false) == .extended)
        #expect(tree.leafNotation == ["3-c"])
        #expect(tree["2-b"]?.isDeleted == true)
    }

    @Test func `a new revision is not marked, and known marks stay`() {
        var tree = tree("1-a")
        tree.markShared("1-a")
        tree.setBodyToken(5, of: "1-a")
        tree.insert(path("2-b", "1-a"), isDeleted: false)
        #expect(tree["1-a"]?.isShared == true && tree["1-a"]?.bodyToken == 5)
        #expect(tree["2-b"]?.isShared == false && tree["2-b"]?.bodyToken == 0)
    }
}
