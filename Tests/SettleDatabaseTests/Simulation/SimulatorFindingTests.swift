import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// Faults that the simulator has found, each as a minimal test.
@Suite struct SimulatorFindingTests {
    private func peer(
        _ path: [String], isDeleted: Bool = false, _ body: DocumentBody = .empty
    ) throws -> ReplicatedRevision {
        let revisions = try path.map { try RevisionID(validating: $0) }
        let history = try RevisionHistory(start: revisions[0].generation, signatures: revisions.map(\.signature))
        return ReplicatedRevision(id: "a", history: history, isDeleted: isDeleted, body: body)
    }

    /// Seed 7 of the first schedules.
    @Test func `a policy that keeps all leaves leaves racing answers alone`() throws {
        try withTemporaryDatabase(.plain) { database in
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

    /// Seed 350: an edit revives the document over two deletions, and one of them contradicts a concurrent edit.
    @Test func `a revived document closes all deletions that its author has seen`() throws {
        try withTemporaryDatabase(.plain) { database in
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

    /// Seed 113945: the path of a reviving edit was cut just above the deletion it is based on.
    @Test func `an edit whose path was stemmed above a deletion does not give way to it`() throws {
        try withTemporaryDatabase(.plain) { database in
            let document = try database.save(Document(id: "a"), onConflict: .fail)
            try database.delete(document, onConflict: .fail)
            try database.insertReplicated([peer(["3-c"])])
            #expect(try database.conflict(of: "a") == nil)
            try database.settle("a", using: .deletesWin)
            #expect(try database.document("a") != nil)
        }
    }

    /// Seed 109526 with clocks: 2-w and 2-x were merged; of the path of 2-x, which was closed, only 2-x is known.
    ///
    /// ```
    /// 1-w ── 2-w ── 3-m           3-m may have seen 1-c, by 2-x; then what it removed of it would come back
    /// 2-x ── 3-d                  closed for 3-m
    /// 1-c
    /// ```
    @Test func `a merge waits where the path of a closed branch was stemmed`() throws {
        try withTemporaryDatabase(.plain) { database in
            try database.insertReplicated([
                peer(["3-m", "2-w", "1-w"], ["name": "m"]), peer(["1-c"], ["note": "removed on the way to 2-x"]),
                peer(["3-d", "2-x"], isDeleted: true, ["$closed": "3-m"]),
            ])
            let preview = try database.preview("a", using: .threeWayMerge())
            #expect(preview?.decision?.reason.contains("were forgotten") == true)
            #expect(try database.settle("a", using: .threeWayMerge()).outcome == .left)
            // When the path arrives, it shows that 3-m has seen 1-c.
            try database.insertReplicated([peer(["3-d", "2-x", "1-c"], isDeleted: true, ["$closed": "3-m"])])
            #expect(try database.conflict(of: "a") == nil)
            #expect(try database.document("a")?.json == ["name": "m"])
        }
    }

    @Test func `a merge waits where a closed revision itself was forgotten`() throws {
        try withTemporaryDatabase(.plain) { database in
            let path = ["3-m", "2-w", "1-w"]
            try database.insertReplicated([
                peer(path, ["count": 3]), peer(["1-w"], ["count": 1]), peer(["3-y", "2-x", "1-w"], ["count": 7]),
                peer(["3-d"], isDeleted: true, ["$closed": "3-m"]),
            ])
            // 3-m and 3-y have 1-w in common, and maybe 2-x: then what 2-x added would count twice.
            let merge = ConflictPolicy.threeWayMerge(MergeRules(attributes: ["/count": .sum]))
            #expect(try database.conflict(of: "a")?.base == nil)
            #expect(try database.settle("a", using: merge).outcome == .left)
            try database.insertReplicated([
                peer(["2-x", "1-w"], ["count": 2]), peer(["3-d", "2-x", "1-w"], isDeleted: true, ["$closed": "3-m"]),
            ])
            #expect(try database.conflict(of: "a")?.base?.revision?.description == "2-x")
            #expect(try database.settle("a", using: merge).outcome == .settled)
            #expect(try database.document("a")?["count"] == 8)
        }
    }

    /// 109526: the path of a closed branch was cut. 118632: a losing deletion waits with leaves that can't be merged.
    /// 109709: a change of a member with a time far ahead, on top of a foreign edit, got an earlier time.
    @Test(arguments: [109_526, 109_709, 118_632] as [UInt64])
    func `the rules hold for seeds with clocks that once failed`(seed: UInt64) throws {
        var options = SimulationOptions()
        options.attributeClocks = true
        let outcome = try Simulation(options).run(seed)
        #expect(outcome.failure == nil, "\(outcome.failure?.description ?? "")")
    }
}
