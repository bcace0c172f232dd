import SettleCore
import Testing

@Suite struct RevisionTreeWinnerTests {
    @Test func `an empty tree has no winner and is not deleted`() {
        let tree = RevisionTree()
        #expect(tree.winner == nil)
        #expect(tree.leaves.isEmpty)
        #expect(!tree.isDeleted && !tree.isConflicted)
        #expect(tree.isEmpty && tree.count == 0)
        #expect(tree.conflicts.isEmpty && tree.deletedConflicts.isEmpty && tree.branchPoints.isEmpty)
    }

    // SEMANTICS 63
    @Test(
        arguments: [
            (["1-a 2-b 3-c", "1-a 2-b 3-9"], "3-c"),
            (["1-a 2-z", "1-a 2-b 3-0"], "3-0"),
            (["1-a 2-b 3-c!", "1-a 2-0"], "2-0"),
            (["1-a 2-b!", "1-a 2-c!"], "2-c"),
            (["9-f", "10-a"], "10-a"),
            (["9-f!", "10-a!"], "10-a"),
            (["10-a!", "9-f"], "9-f"),
            (["2-", "2-a"], "2-a"),
            (["1-a", "1-b", "1-c"], "1-c"),
        ] as [([String], RevisionID)])
    func `live before deleted, then generation, then signature`(branches: [String], winner: RevisionID) {
        #expect(tree(branches).winner?.revision == winner)
        #expect(tree(branches.reversed()).winner?.revision == winner)
    }

    // SEMANTICS 64
    @Test func `a digest that begins with ff beats the text g`() {
        #expect(
            tree("1-ffffffffffffffffffffffffffffffff", "1-g").winner?.revision
                == "1-ffffffffffffffffffffffffffffffff")
    }

    // SEMANTICS 64: as text the digest would win, as bytes 0x61… it loses against "b"
    @Test func `a digest is compared by its bytes with a SHA-1 id`() {
        #expect(
            tree("1-61ffffffffffffffffffffffffffffff", "1-b000000000000000000000000000000000000000")
                .winner?.revision == "1-b000000000000000000000000000000000000000")
    }

    // SEMANTICS 62
    @Test func `the winner does not depend on the order of insertion`() {
        let branches = ["1-a 2-b 3-c!", "1-a 2-b 3-d", "1-a 2-e", "1-f 2-g 3-d0", "4-h 5-i!"]
        for first in branches.indices {
            for second in branches.indices where second != first {
                var order = [branches[first], branches[second]]
                order += branches.filter { !order.contains($0) }
                #expect(tree(order).leafNotation == ["3-d0", "3-d", "2-e", "5-i!", "3-c!"], "\(order)")
            }
        }
    }

    @Test func `an inner revision never wins, however high`() {
        #expect(tree("1-z 2-a", "1-b").winner?.revision == "2-a")
    }

    @Test func `the winner is the first of the leaves`() {
        let tree = tree("1-a 2-b 3-c!", "1-a 2-e", "1-a 2-d")
        #expect(tree.winner == tree.leaves.first)
        #expect(tree.winner?.isDeleted == false)
    }
}
