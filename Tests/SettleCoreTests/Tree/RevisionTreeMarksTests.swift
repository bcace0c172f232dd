import SettleCore
import Testing

@Suite struct RevisionTreeMarksTests {
    @Test func `marking a revision as shared again changes nothing`() {
        var tree = tree("1-a 2-b")
        #expect(tree["1-a"]?.isShared == false)
        #expect(tree.markShared("1-a") == true)
        #expect(tree["1-a"]?.isShared == true)
        #expect(tree.markShared("1-a") == false)
        #expect(tree["2-b"]?.isShared == false)
    }

    @Test func `marks of unknown revisions are ignored`() {
        var marked = tree("1-a")
        #expect(marked.markShared("1-b") == false)
        marked.setBodyToken(3, of: "2-a")
        #expect(marked == tree("1-a"))
    }

    @Test func `a body token can be set, changed and removed`() {
        var marked = tree("1-a 2-b")
        marked.setBodyToken(.max, of: "2-b")
        #expect(marked["2-b"]?.bodyToken == .max)
        #expect(marked["1-a"]?.bodyToken == 0)
        marked.setBodyToken(1, of: "2-b")
        #expect(marked["2-b"]?.bodyToken == 1)
        marked.setBodyToken(0, of: "2-b")
        #expect(marked == tree("1-a 2-b"))
    }

    @Test func `the shared ancestor is the newest shared revision among the ancestors`() {
        var tree = tree("1-a 2-b 3-c 4-d", "1-a 2-b 3-x", "6-q")
        #expect(tree.sharedAncestor(of: "4-d") == nil)
        tree.markShared("1-a")
        #expect(tree.sharedAncestor(of: "4-d") == "1-a")
        tree.markShared("3-c")
        #expect(tree.sharedAncestor(of: "4-d") == "3-c")
        #expect(tree.sharedAncestor(of: "3-c") == "3-c")
        #expect(tree.sharedAncestor(of: "2-b") == "1-a")
        #expect(tree.sharedAncestor(of: "3-x") == "1-a")
        #expect(tree.sharedAncestor(of: "6-q") == nil)
        #expect(tree.sharedAncestor(of: "9-z") == nil)
    }

    @Test func `marks survive later edits`() throws {
        var tree = tree("1-b 2-b 3-b")
        tree.markShared("2-b")
        tree.setBodyToken(9, of: "3-b")
        try tree.insert("1-a", parent: nil, isDeleted: false)
        tree.insert(path("2-c", "1-c"), isDeleted: true)
        #expect(tree.allNodes.filter(\.isShared).map(\.revision) == ["2-b"])
        #expect(tree["3-b"]?.bodyToken == 9)
        #expect(tree.edges == ["1-a", "1-b", "1-c", "2-b<1-b", "2-c<1-c", "3-b<2-b"])
    }

    @Test func `nodes come in ascending order, parents first`() {
        let tree = tree("1-a 2-z 3-a", "1-a 2-b", "10-0")
        #expect(tree.allNodes.map(\.revision) == ["1-a", "2-b", "2-z", "3-a", "10-0"])
        #expect(tree.allNodes.map(\.revision) == tree.revisions)
        #expect(tree.allNodes.map(\.isLeaf) == [false, true, false, true, true])
    }
}
