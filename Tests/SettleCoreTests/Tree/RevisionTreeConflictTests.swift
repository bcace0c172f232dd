import SettleCore
import Testing

@Suite struct RevisionTreeConflictTests {
    // SEMANTICS 60, 61
    @Test func `two edits on one peer and one on another leave two live leaves`() {
        var here = tree("1-a 2-x 3-x 4-x")
        here.merge(tree("1-a 2-x 3-y"))
        #expect(here.leafNotation == ["4-x", "3-y"])
        #expect(here.isConflicted)
        #expect(here.conflicts == ["3-y"])
    }

    // SEMANTICS 68
    @Test func `leaves are ordered live before deleted, each kind from the highest down`() {
        let tree = tree("1-a 2-b", "1-a 2-c", "1-a 2-d!", "1-a 2-e 3-f!", "1-a 2-0")
        #expect(tree.leafNotation == ["2-c", "2-b", "2-0", "3-f!", "2-d!"])
        #expect(tree.conflicts == ["2-b", "2-0"])
        #expect(tree.deletedConflicts == ["3-f", "2-d"])
    }

    // SEMANTICS 66
    @Test func `tombstones are not a conflict`() {
        let tree = tree("1-a 2-b", "1-a 2-c!", "1-a 2-d!")
        #expect(!tree.isConflicted)
        #expect(tree.conflicts.isEmpty)
        #expect(tree.deletedConflicts == ["2-d", "2-c"])
        #expect(!tree.isDeleted)
    }

    // SEMANTICS 67
    @Test func `a document with tombstones only is deleted and not in conflict`() {
        let tree = tree("1-a 2-b!", "1-a 2-c!")
        #expect(tree.isDeleted)
        #expect(!tree.isConflicted)
        #expect(tree.conflicts.isEmpty)
        #expect(tree.deletedConflicts == ["2-b"])
    }

    // SEMANTICS 201
    @Test func `a deletion in a conflicted document removes only its leaf`() throws {
        var tree = tree("1-a 2-b", "1-a 2-c")
        try tree.insert("3-x", parent: "2-c", isDeleted: true)
        #expect(!tree.isDeleted)
        #expect(tree.leafNotation == ["2-b", "3-x!"])
        try tree.insert("3-y", parent: "2-b", isDeleted: true)
        #expect(tree.isDeleted)
        #expect(tree.leafNotation == ["3-y!", "3-x!"])
    }

    // SEMANTICS 60
    @Test func `a conflict ends when every branch but one is deleted`() throws {
        var tree = tree("1-a 2-b", "1-a 2-c", "1-a 2-d")
        #expect(tree.isConflicted)
        try tree.insert("3-b", parent: "2-b", isDeleted: true)
        #expect(tree.isConflicted)
        try tree.insert("3-c", parent: "2-c", isDeleted: true)
        #expect(!tree.isConflicted)
        #expect(tree.winner?.revision == "2-d")
    }

    @Test func `second roots conflict like branches`() {
        #expect(tree("1-a", "1-b").isConflicted)
        #expect(tree("1-a", "7-b").conflicts == ["1-a"])
    }
}
