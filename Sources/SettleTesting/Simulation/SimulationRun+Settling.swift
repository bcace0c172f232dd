internal import Settle

extension SimulationRun {
    /// Settles one document on one replica, and checks the guarantees of the policy.
    func settle(_ id: DocumentID, on replica: SimulatedReplica) throws {
        guard try !replica.tree(id).isEmpty else { return }
        let preview =
            try replica.policy.isPure
            ? replica.settler.policy.flatMap { try replica.database.preview(id, using: $0) } : nil
        let promised = preview?.plan.writes.map(\.revision) ?? []
        try settling([id], on: replica) {
            guard let policy = replica.settler.policy else {
                try replica.settler.settle(replica.database, id)
                return [:]
            }
            let settlement = try replica.database.settle(id, using: policy)
            return Dictionary(zip(settlement.written, settlement.superseded)) { first, _ in first }
        }
        let after = try replica.tree(id)
        try expect(
            isStemmed || promised.allSatisfy(after.contains), .sameRevisions,
            "replica \(replica.index) has not written of \(id) what the preview said, \(Self.list(promised))")
    }

    /// Settles all conflicts on one replica in one call, and then finds nothing more to do.
    func settleAll(on replica: SimulatedReplica) throws {
        // If paths are stemmed, only the settlement of a document still has the parents of its revisions.
        if replica.settler.policy == nil || isStemmed {
            for id in schedule.documents { try settle(id, on: replica) }
        }
        guard let policy = replica.settler.policy else { return }
        try settling(schedule.documents, on: replica) {
            try replica.database.settleAll(using: policy)
            return [:]
        }
        let sequence = try replica.database.lastSequence()
        let report = try replica.database.settleAll(using: policy)
        try expect(
            try replica.database.lastSequence() == sequence && report.failed == 0, .settled,
            "replica \(replica.index) has settled all and finds more to do")
    }

    /// Settles by a closure, which returns the known parents of the written revisions, and checks the result.
    private func settling(
        _ ids: [DocumentID], on replica: SimulatedReplica, _ settle: () throws -> [RevisionID: RevisionID]
    ) throws {
        let before = try ids.map { (id: $0, tree: try replica.tree($0), conflict: try replica.conflict($0)) }
        let sequence = try replica.database.lastSequence()
        let parents = try settle()
        let isUnchanged = try replica.database.lastSequence() == sequence
        if !isUnchanged { tell("    \(replica.index) settles") }
        for (id, tree, conflict) in before {
            if !isUnchanged { try note(id, on: replica, ofUser: false, parents: parents) }
            let after = try replica.tree(id)
            if let left = try replica.conflict(id), replica.policy.settles == .always {
                throw SimulationProblem(
                    .settled, "replica \(replica.index) has settled \(id) and left \(Self.leaves(left))")
            }
            let written = after.revisions.filter { !tree.contains($0) }
            if written.isEmpty { continue }
            try expect(
                replica.policy.settles != .never, .keepsAll,
                "replica \(replica.index) writes \(Self.list(written)) though it keeps all of \(id)")
            guard let conflict else {
                // Another way of settling may detect other conflicts; the other rules apply to its revisions.
                if replica.settler.policy == nil { continue }
                throw SimulationProblem(.settled, "replica \(replica.index) settles \(id), where there is no conflict")
            }
            try compare(conflict, written, on: replica)
        }
    }

    /// Compares the written revisions with those of other replicas that had the same leaves.
    private func compare(_ conflict: Conflict, _ written: [RevisionID], on replica: SimulatedReplica) throws {
        guard replica.policy.isPure else { return }
        let question = SettlingQuestion(conflict, of: replica.policy)
        let answer = SettlingAnswer(replica: replica.index, written: written)
        guard let other = answers[question] else {
            answers[question] = answer
            return
        }
        try expect(
            other.written == written, .sameRevisions,
            """
            \(Self.leaves(conflict)) of \(conflict.documentID) were settled by \(Self.list(written)) on replica \
            \(replica.index) and by \(Self.list(other.written)) on replica \(other.replica)
            """)
    }

    static func list(_ revisions: [RevisionID]) -> String { revisions.map(\.description).joined(separator: ", ") }

    static func leaves(_ conflict: Conflict) -> String {
        conflict.leaves.map { "\($0.revision?.description ?? "-")\($0.isDeleted ? " (deleted)" : "")" }
            .joined(separator: ", ")
    }
}
