internal import Settle
import SettleCore

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

    /// Settles all conflicts on one replica in one call, and checks that nothing is left to do.
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

    /// Settles with a closure, which returns the known parents of the written revisions, and checks the result.
    private func settling(
        _ ids: [DocumentID], on replica: SimulatedReplica, _ settle: () throws -> [RevisionID: RevisionID]
    ) throws {
        let before = try ids.map { (id: $0, tree: try replica.tree($0), conflict: try replica.conflict($0)) }
        let sequence = try replica.database.lastSequence()
        let parents = try settle()
        let isUnchanged = try replica.database.lastSequence() == sequence
        if !isUnchanged { log("    \(replica.index) settles") }
        for (id, tree, conflict) in before {
            if !isUnchanged { try record(id, on: replica, ofUser: false, parents: parents) }
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
                // Another way of settling may detect other conflicts; the remaining rules apply to its revisions.
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

// MARK: - Clocks

extension SimulationRun {
    static let day = 86_400_000

    /// Records the times of a user's save.
    func recordStamps(_ document: Document, before: Document?, on replica: SimulatedReplica) throws {
        guard replica.clock != nil else { return }
        let goesByClocks = schedule.policies.allSatisfy { $0.name == "latestAttributeWins" }
        // If a branch was discarded as a whole, new stamps need not be later than those in it. Nor after software
        // without clocks has dropped the stamps: a device does not remember one that only exceeded another's.
        let hasAll = ledgers[document.id]?.wasDeleted != true && stamps[document.id]?.lostClocks != true
        let isWhole = goesByClocks && hasAll
        let old = Self.moments(before)
        for (path, moment) in Self.moments(document) where old[path] != moment {
            let known = stamps[document.id, default: StampLedger()].latest[path]
            try expect(
                !isWhole || known.map { $0.device != moment.device || $0 < moment } ?? true, .latestStays,
                "replica \(replica.index) stamps \(path) of \(document.id) with \(moment), after \(moment.device)'s own \(known.map { "\($0)" } ?? "")"
            )
            stamps[document.id, default: StampLedger()].latest[path] = max(known ?? moment, moment)
        }
    }

    private static func moments(_ document: Document?) -> [String: AttributeClock] {
        guard let document, !document.isDeleted else { return [:] }
        let all = ClockedDocument(document.json.object ?? JSONObject()).moments
        return Dictionary(all.map { ($0.path, $0.moment) }) { first, _ in first }
    }

    /// Edits like software without clocks: it keeps unknown members, or sometimes drops them.
    func editForeign(_ id: DocumentID, on replica: SimulatedReplica, _ random: inout SeededRandom) throws {
        guard let before = try replica.database.document(id) else { return }
        var edited = before
        Self.change(&edited, &random)
        if random.oneIn(4) {
            edited[ClockedDocument.memberName] = nil
            stamps[id, default: StampLedger()].lostClocks = true
        }
        let names = Set((before.json.object?.names ?? []) + (edited.json.object?.names ?? []))
        stamps[id, default: StampLedger()].foreign.formUnion(names.filter { before[$0] != edited[$0] })
        try replica.database.setAttributeClocks(false)
        try replica.database.save(edited, onConflict: .fail)
        try replica.database.setAttributeClocks(true)
        log("    software without clocks edits \(id)")
        try record(id, on: replica, ofUser: true)
    }

    /// Checks that the latest change of each member is kept, if nothing was deleted and everything was settled by
    /// the clocks.
    func checkStamps(_ id: DocumentID) throws {
        guard let ledger = stamps[id], !ledger.lostClocks, ledgers[id]?.wasDeleted == false,
            schedule.policies.allSatisfy({ $0.name == "latestAttributeWins" }),
            try !replicas[0].tree(id).isConflicted
        else { return }
        let ends = Self.moments(try replicas[0].database.document(id))
        for (path, moment) in ledger.latest where ledger.covers(path) {
            var around = path[...]
            var isKept = ends[path].map { $0 >= moment } ?? false
            while !isKept, let slash = around.lastIndex(of: "/") {
                around = around[..<slash]
                isKept = ends[String(around)].map { $0 > moment } ?? false
            }
            try expect(
                isKept, .latestStays,
                "\(path) of \(id) was changed at \(moment), and ends with \(ends[path].map { "\($0)" } ?? "none")")
        }
    }
}
