import Settle
import SettleTesting
import Testing

/// What the simulator has found, each as the smallest test there is.
@Suite struct SimulatorFindingTests {
    private func peer(
        _ path: [String], isDeleted: Bool = false, _ body: DocumentBody = .empty
    ) throws -> ReplicatedRevision {
        let revisions = try path.map { try RevisionID(validating: $0) }
        let history = try RevisionHistory(start: revisions[0].generation, signatures: revisions.map(\.signature))
        return ReplicatedRevision(id: "a", history: history, isDeleted: isDeleted, body: body)
    }

    /// Seed 7 of the first schedules.
    @Test func `a policy that keeps all leaves racing answers alone`() throws {
        try withTemporaryDatabase(.memory) { database in
            try database.insertReplicated([
                peer(["1-a"]), peer(["1-b"]), peer(["2-c", "1-b"]), peer(["2-d", "1-b"]),
                peer(["2-e", "1-a"], isDeleted: true, ["$closed": "2-c"]),
                peer(["2-f", "1-a"], isDeleted: true, ["$closed": "2-d"]),
            ])
            let sequence = try database.lastSequence()
            #expect(try database.settle("a", using: .keepAll).outcome == .left)
            #expect(try database.lastSequence() == sequence)
            #expect(try database.preview("a", using: .keepAll)?.plan.writes.isEmpty == true)
            #expect(try database.settle("a", using: .mostRevisions).racingAnswers.count == 2)
        }
    }

    /// Seed 350: the document is brought back in sight of two deletions, and one of them contradicts an edit made apart.
    @Test func `a document that is brought back closes all deletions its author has seen`() throws {
        try withTemporaryDatabase(.memory) { database in
            try database.insertReplicated([
                peer(["2-b", "1-a"], isDeleted: true), peer(["2-d", "1-c"], isDeleted: true),
            ])
            let revived = try database.save(Document(id: "a"), onConflict: .fail)
            try database.insertReplicated([peer(["2-e", "1-a"])])
            #expect(try database.conflict(of: "a")?.deletions.isEmpty == true)
            try database.settle("a", using: .deletesWin)
            #expect(try database.document("a")?.revision == revived.revision)
        }
    }

    /// Seed 113945: the path of an edit that brought a document back was cut just above the deletion it stands on.
    @Test func `an edit whose path was cut above a deletion does not give way to it`() throws {
        try withTemporaryDatabase(.memory) { database in
            let document = try database.save(Document(id: "a"), onConflict: .fail)
            try database.delete(document, onConflict: .fail)
            try database.insertReplicated([peer(["3-c"])])
            #expect(try database.conflict(of: "a") == nil)
            try database.settle("a", using: .deletesWin)
            #expect(try database.document("a") != nil)
        }
    }
}
