import SettleCore
import Testing

@Suite struct RevisionTreeHistoryTests {
    private let forked = tree("1-a 2-b 3-c 4-d", "1-a 2-b 3-x", "6-q 7-r")

    @Test(
        arguments: [
            ("4-d", ["4-d", "3-c", "2-b", "1-a"]), ("3-x", ["3-x", "2-b", "1-a"]), ("2-b", ["2-b", "1-a"]),
            ("1-a", ["1-a"]), ("7-r", ["7-r", "6-q"]),
        ] as [(RevisionID, [RevisionID])])
    func `a history is the path back to the root`(revision: RevisionID, revisions: [RevisionID]) {
        let history = forked.history(of: revision)
        #expect(history?.revisions == revisions)
        #expect(history?.revision == revision)
        #expect(history?.start == revision.generation)
        #expect(history?.signatures == revisions.map(\.signature))
    }

    @Test func `a limit keeps the newest revisions`() {
        #expect(forked.history(of: "4-d", limit: 2) == path("4-d", "3-c"))
        #expect(forked.history(of: "4-d", limit: 1) == RevisionHistory("4-d"))
        #expect(forked.history(of: "4-d", limit: 4) == forked.history(of: "4-d"))
        #expect(forked.history(of: "4-d", limit: 100) == forked.history(of: "4-d"))
    }

    @Test func `an unknown revision has no history`() {
        #expect(forked.history(of: "4-q") == nil)
        #expect(RevisionTree().history(of: "1-a") == nil)
    }

    @Test func `a history's length must fit between its start and generation 1`() throws {
        let signatures = path("3-c", "2-b", "1-a").signatures
        #expect(try RevisionHistory(start: 3, signatures: signatures) == path("3-c", "2-b", "1-a"))
        #expect(try RevisionHistory(start: RevisionID.maximumGeneration, signatures: signatures).revisions.count == 3)
        for start: UInt64 in [0, 1, 2, RevisionID.maximumGeneration + 1, .max] {
            #expect {
                try RevisionHistory(start: start, signatures: signatures)
            } throws: { error in
                (error as? RevisionTreeError)?.code == .invalidHistory
            }
        }
    }

    @Test func `a history without revisions is refused`() {
        for start: UInt64 in [0, 1, 5] {
            #expect {
                try RevisionHistory(start: start, signatures: [])
            } throws: { error in
                (error as? RevisionTreeError)?.code == .invalidHistory
            }
        }
    }

    @Test func `the history of a leaf rebuilds its branch elsewhere`() throws {
        var copy = RevisionTree()
        copy.insert(try #require(forked.history(of: "4-d")), isDeleted: false)
        #expect(copy == tree("1-a 2-b 3-c 4-d"))
    }
}
