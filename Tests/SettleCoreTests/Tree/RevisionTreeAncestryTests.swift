import SettleCore
import Testing

@Suite struct RevisionTreeAncestryTests {
    private let forked = tree("1-a 2-b 3-c 4-d 5-e", "1-a 2-b 3-x 4-y", "1-a 2-z", "1-q 2-r", "7-s")

    @Test(
        arguments: [
            ("5-e", "4-y", "2-b"), ("4-y", "2-z", "1-a"), ("5-e", "3-c", "3-c"), ("2-b", "2-b", "2-b"),
            ("5-e", "1-a", "1-a"), ("3-c", "3-x", "2-b"), ("5-e", "2-r", nil), ("2-z", "7-s", nil), ("1-a", "1-q", nil),
            ("5-e", "9-unknown", nil), ("9-unknown", "9-unknown", nil),
        ] as [(RevisionID, RevisionID, RevisionID?)])
    func `the common ancestor is the newest revision that both descend from`(
        first: RevisionID, second: RevisionID, expected: RevisionID?
    ) {
        #expect(forked.commonAncestor(of: first, second) == expected)
        #expect(forked.commonAncestor(of: second, first) == expected)
    }

    @Test func `common ancestors agree with the paths of every pair`() {
        let model = ReferenceTree(forked)
        for first in forked.revisions {
            for second in forked.revisions {
                let behind = Set(model.path(from: second))
                let expected = model.path(from: first).first { behind.contains($0) }
                #expect(forked.commonAncestor(of: first, second) == expected, "\(first) and \(second)")
                #expect(forked.isAncestor(first, of: second) == behind.contains(first), "\(first) of \(second)")
            }
        }
    }

    @Test func `an unknown revision is not an ancestor, not even of itself`() {
        #expect(!forked.isAncestor("9-u", of: "9-u"))
        #expect(!forked.isAncestor("1-a", of: "9-u"))
        #expect(!forked.isAncestor("9-u", of: "5-e"))
    }

    @Test func `parents are known except those of roots`() {
        #expect(forked.parent(of: "5-e") == "4-d")
        #expect(forked.parent(of: "3-x") == "2-b")
        #expect(forked.parent(of: "1-a") == nil)
        #expect(forked.parent(of: "7-s") == nil)
        #expect(forked.parent(of: "9-u") == nil)
    }

    @Test(
        arguments: [
            (["1-a 2-b 3-c", "1-a 2-b 3-d"], ["2-b"]),
            (["1-a 2-b 3-c", "1-a 2-b 3-d", "1-a 2-e"], ["1-a", "2-b"]),
            (["1-a 2-b", "1-a 2-c", "1-a 2-d"], ["1-a"]),
            (["1-a 2-b 3-c", "1-a 2-b 3-d!"], ["2-b"]),
            (["1-a 2-b 3-c", "1-a 2-b 3-d 4-e!"], []),
            (["1-a 2-b 3-c", "1-a 2-b 3-d!", "1-a 2-e"], ["1-a", "2-b"]),
            (["1-a 2-b!", "1-a 2-c!"], []),
            (["1-a 2-b"], []),
            (["1-a 2-b", "1-c"], []),
            (["1-a 2-b 3-c", "1-a 2-b 3-d", "5-e"], ["2-b"]),
            (["1-a 2-b 3-c!", "1-a 2-b 3-d!", "1-a 2-e", "1-f"], []),
        ] as [([String], [RevisionID])])
    func `branch points are the revisions where branches with a live leaf or a disputed deletion part`(
        branches: [String], points: [RevisionID]
    ) {
        #expect(tree(branches).branchPoints == points)
    }
}
