import SettleCore
import Testing

@Suite struct RevisionTreeMissingTests {
    private let forked = tree("1-a 2-b 3-c 4-d", "1-a 2-b 3-x!", "1-a 2-z")

    // COUCHDB-FACTS 18
    @Test func `missing revisions keep the order and the duplicates of the request`() {
        #expect(forked.missing(from: ["9-z", "2-b", "3-c", "1-q", "9-z", "4-d"]) == ["9-z", "1-q", "9-z"])
        #expect(forked.missing(from: []) == [])
        #expect(forked.missing(from: forked.revisions) == [])
        #expect(RevisionTree().missing(from: ["1-a"]) == ["1-a"])
    }

    @Test func `inner revisions and tombstones are known`() {
        #expect(forked.contains("2-b"))
        #expect(forked.contains("3-x"))
        #expect(!forked.contains("3-b"))
        #expect(!forked.contains("2-c"))
        #expect(forked["3-x"]?.isDeleted == true)
        #expect(forked["5-e"] == nil)
    }

    // COUCHDB-FACTS 18
    @Test(
        arguments: [
            (["5-e"], ["2-z", "3-x", "4-d"]),
            (["4-e"], ["2-z", "3-x"]),
            (["3-e"], ["2-z"]),
            (["2-e"], []),
            (["1-e"], []),
            (["1-e", "4-e", "2-e"], ["2-z", "3-x"]),
            ([], []),
        ] as [([RevisionID], [RevisionID])])
    func `possible ancestors are the leaves below the highest missing generation`(
        missing: [RevisionID], ancestors: [RevisionID]
    ) {
        #expect(forked.possibleAncestors(of: missing) == ancestors)
    }

    @Test func `an empty tree has no possible ancestors`() {
        #expect(RevisionTree().possibleAncestors(of: ["3-a"]) == [])
    }
}
