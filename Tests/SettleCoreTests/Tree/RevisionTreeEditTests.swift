import SettleCore
import Testing

@Suite struct RevisionTreeEditTests {
    @Test func `the first edit is a root and extends the empty tree`() throws {
        var tree = RevisionTree()
        #expect(try tree.insert("1-a", parent: nil, isDeleted: false) == .extended)
        #expect(tree.edges == ["1-a"])
        #expect(tree["1-a"]?.isLeaf == true)
        #expect(!tree.isEmpty && tree.count == 1)
    }

    @Test func `an edit on a leaf extends it and takes its place`() throws {
        var tree = tree("1-a")
        #expect(try tree.insert("2-b", parent: "1-a", isDeleted: false) == .extended)
        #expect(tree.edges == ["1-a", "2-b<1-a"])
        #expect(tree.leafNotation == ["2-b"])
        #expect(tree["1-a"]?.isSuperseded == true)
    }

    @Test func `an edit on an inner revision begins a branch`() throws {
        var tree = tree("1-a 2-b 3-c")
        #expect(try tree.insert("2-0", parent: "1-a", isDeleted: false) == .branched)
        #expect(tree.edges == ["1-a", "2-0<1-a", "2-b<1-a", "3-c<2-b"])
        #expect(tree.leafNotation == ["3-c", "2-0"])
        #expect(tree.brokenInvariant == nil)
    }

    @Test func `a second root of generation 1 is a branch`() throws {
        var tree = tree("1-b 2-c")
        #expect(try tree.insert("1-a", parent: nil, isDeleted: false) == .branched)
        #expect(tree.edges == ["1-a", "1-b", "2-c<1-b"])
        #expect(tree.leafNotation == ["2-c", "1-a"])
    }

    @Test func `a tombstone is an edit like any other, and may be edited again`() throws {
        // SEMANTICS 88
        var tree = tree("1-a")
        try tree.insert("2-b", parent: "1-a", isDeleted: true)
        #expect(tree.isDeleted)
        #expect(try tree.insert("3-c", parent: "2-b", isDeleted: false) == .extended)
        #expect(!tree.isDeleted)
        #expect(tree["2-b"]?.isDeleted == true)
    }

    @Test(
        arguments: [
            ("2-x", "1-y", RevisionTreeError.Code.unknownParent), ("4-x", "3-z", .unknownParent),
            ("3-x", "1-a", .generation), ("1-x", "1-a", .generation), ("2-x", nil, .generation),
            ("1-a", nil, .exists), ("2-b", "1-a", .exists), ("2-b", "1-q", .exists),
        ] as [(RevisionID, RevisionID?, RevisionTreeError.Code)])
    func `a refused edit gives the reason and leaves the tree unchanged`(
        revision: RevisionID, parent: RevisionID?, code: RevisionTreeError.Code
    ) {
        var edited = tree("1-a 2-b", "1-a 2-c!")
        edited.markShared("1-a")
        let before = edited
        #expect {
            try edited.insert(revision, parent: parent, isDeleted: true)
        } throws: { error in
            let error = error as? RevisionTreeError
            return error?.code == code && error?.message.contains(revision.description) == true
        }
        #expect(edited == before)
        #expect(edited.packed() == before.packed())
    }

    @Test func `the highest generation can be reached but not exceeded`() throws {
        let last = RevisionID.maximumGeneration
        var tree = tree("\(last - 1)-a")
        let edit = RevisionID(stringLiteral: "\(last)-b")
        #expect(try tree.insert(edit, parent: tree.winner?.revision, isDeleted: false) == .extended)
        #expect(throws: RevisionTreeError.self) { try tree.insert("1-x", parent: edit, isDeleted: false) }
        #expect(try RevisionTree(packed: tree.packed()) == tree)
    }

    @Test func `an edit of a revision of the highest generation is refused, and its tree can be read again`() throws {
        let highest = RevisionID(stringLiteral: "\(RevisionID.maximumGeneration)-b")
        let edit = RevisionHasher().revision(of: .empty, parent: highest)
        var tree = tree("\(highest)")
        #expect {
            try tree.insert(edit, parent: highest, isDeleted: false)
        } throws: { error in
            (error as? RevisionTreeError)?.code == .generation
        }
        #expect(try RevisionTree(packed: tree.packed()) == tree)
        #expect(RevisionHistory([edit, highest]) == nil)
        #expect(RevisionHasher().revision(of: .empty, parent: edit) != edit)
    }

    @Test func `an error prints its code and message`() {
        var tree = RevisionTree()
        #expect {
            try tree.insert("2-b", parent: "1-a", isDeleted: false)
        } throws: { error in
            "\(error)" == "unknownParent: 1-a, the parent of 2-b, is not in the tree"
        }
    }
}
