import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// The list of documents in conflict.
@Suite struct ConflictedListTests {
    // SEMANTICS 66, 67
    @Test func `the list is complete unless a limit is given`() throws {
        let database = try Database.plain()
        let ids = (0..<1100).map { DocumentID(stringLiteral: "d\(10_000 + $0)") }
        let signatures = ["aa", "bb"].map { RevisionID("1-" + $0) }
        let revisions = try ids.flatMap { id in
            try signatures.map { revision in
                ReplicatedRevision(id: id, history: RevisionHistory(try #require(revision)), body: [:])
            }
        }
        try database.insertReplicated(revisions)
        #expect(try database.conflictedDocumentIDs() == ids)
        #expect(try database.conflictedDocumentIDs(after: ids[1000]) == Array(ids[1001...]))
        #expect(try database.conflictedDocumentIDs(limit: 3) == Array(ids[..<3]))
        #expect(try database.conflictedDocumentIDs(limit: 0) == [])
    }
}
