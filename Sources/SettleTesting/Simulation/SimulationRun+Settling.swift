internal import Settle

extension SimulationRun {
    /// Settles one document on one replica, and holds the policy to what it promises.
    func settle(_ id: DocumentID, on replica: SimulatedReplica) throws {
        let before = try replica.tree(id)
        guard !before.isEmpty else { return }
        let conflict = try replica.conflict(id)
        let sequence = try replica.database.lastSequence()
        try replica.settler.settle(replica.database, id)
        guard try replica.database.lastSequence() != sequence else {
            if let conflict, replica.policy.settles == .always {
                throw SimulationProblem(
                    .settled, "replica \(replica.index) does not settle \(id), \(Self.leaves(conflict))")
            }
            return
        }
        tell("    \(replica.index) settles")
        try note(id, on: replica, ofUser: false)
        try expect(
            replica.policy.settles != .never, .keepsAll, "replica \(replica.index) writes though it keeps all of \(id)")
        guard let conflict else {
            throw SimulationProblem(.settled, "replica \(replica.index) settles \(id), where there is no conflict")
        }
        if let left = try replica.conflict(id), replica.policy.settles == .always {
            throw SimulationProblem(
                .settled, "replica \(replica.index) has settled \(id) and left \(Self.leaves(left))")
        }
        let after = try replica.tree(id)
        try compare(conflict, after.revisions.filter { !before.contains($0) }, on: replica)
    }

    /// Compares what was written with what others wrote who had the same leaves.
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

    /// Settles all on one replica.
    func settleAll(on replica: SimulatedReplica) throws {
        for id in schedule.documents { try settle(id, on: replica) }
        guard let policy = replica.settler.policy else { return }
        let sequence = try replica.database.lastSequence()
        let report = try replica.database.settleAll(using: policy)
        try expect(
            try replica.database.lastSequence() == sequence && report.failed == 0, .settled,
            "replica \(replica.index) has settled all and finds more to do")
    }

    static func list(_ revisions: [RevisionID]) -> String { revisions.map(\.description).joined(separator: ", ") }

    static func leaves(_ conflict: Conflict) -> String {
        conflict.leaves.map { "\($0.revision?.description ?? "-")\($0.isDeleted ? " (deleted)" : "")" }
            .joined(separator: ", ")
    }
}
