internal import SettleCore

/// Settles one conflict: reads it, calls the policy, writes, and repeats if the document changed in between
/// (SEMANTICS 35).
///
///     conflict() ──▶ the policy is called, outside ──▶ apply() ──┬─▶ done
///        ▲                                                       │
///        └──────────────── the leaves have changed ──────────────┘
///
/// Racing answers are settled on the way, without calling the policy.
struct SettlementRun {
    let database: Database
    let policy: ConflictPolicy
    /// The states of the peer that the conflict came from, if it sends its current state alone.
    let peer: FormerState?
    private(set) var settlement: Settlement
    private var isDone = false
    private var races = 0
    private static let maximumAttempts = 1000

    init(_ id: DocumentID, _ policy: ConflictPolicy, beside peer: FormerState? = nil, _ database: Database) {
        self.database = database
        self.peer = peer
        self.policy = policy
        settlement = Settlement(id, .nothing)
    }

    private var id: DocumentID { settlement.documentID }

    /// The conflict for which to call the policy; `nil` at the end.
    mutating func conflict() throws -> Conflict? {
        while !isDone {
            guard let conflict = try read() else { return nil }
            guard policy.endsRaces, let plan = try Self.racePlan(conflict, database) else { return conflict }
            guard races < Self.maximumAttempts else { throw changesTooOften(races) }
            races += 1
            let preview = SettlementPreview(conflict: conflict, decision: nil, plan: plan)
            guard try write(preview) else { continue }
            note(preview)
        }
        return nil
    }

    private func read() throws -> Conflict? {
        try database.engine.snapshot { reader in
            guard let record = try reader.record(of: id, withContent: true) else {
                throw DatabaseError(.notFound, "there is no document \"\(id)\" to settle")
            }
            return try database.conflict(in: record, policy.kinds, beside: peer, reader)
        }
    }

    /// The plan for racing answers; `nil` if there are none.
    static func racePlan(_ conflict: Conflict, _ database: Database) throws -> SettlementPlan? {
        guard let race = conflict.race else { return nil }
        return try database.hashers.with { try SettlementPlan(race, of: conflict, hasher: $0) }
    }

    /// The plan for a decision.
    static func plan(
        _ decision: PolicyDecision, _ conflict: Conflict, _ policy: ConflictPolicy, _ database: Database
    ) throws -> SettlementPlan {
        let names = try database.fieldsKeptOnDelete()
        return try database.hashers.with {
            try SettlementPlan(
                decision.resolution, of: conflict, resolver: policy.resolver, origin: database.identity,
                keepingOnDelete: names, hasher: $0)
        }
    }

    /// Carries out a decision, unless the document was changed meanwhile.
    mutating func apply(_ decision: PolicyDecision, to conflict: Conflict, took time: Duration) throws {
        settlement.timeInPolicy += time
        let plan = try Self.plan(decision, conflict, policy, database)
        let preview = SettlementPreview(conflict: conflict, decision: decision, plan: plan)
        note(preview)
        if plan.survivor == nil {
            isDone = true
        } else if try write(preview) {
            isDone = true
        } else if settlement.attempts >= Self.maximumAttempts {
            throw changesTooOften(settlement.attempts)
        }
    }

    private func changesTooOften(_ times: Int) -> DatabaseError {
        DatabaseError(
            .conflict,
            """
            \"\(id)\" was changed each time it was to be settled, \(times) times; settle outside of a snapshot, and later
            """)
    }

    /// Writes a plan in one transaction (SEMANTICS 72); false if the leaves have changed.
    private mutating func write(_ preview: SettlementPreview) throws -> Bool {
        guard try database.carryOut(preview, by: policy) else { return false }
        settlement.wrote(preview.plan)
        return true
    }

    private mutating func note(_ preview: SettlementPreview) {
        for warning in settlement.add(preview, by: policy) { database.warn(warning, in: .conflicts) }
    }
}

/// A policy's decision about a conflict, and the revisions it would write; nothing is written.
public struct SettlementPreview: Sendable {
    /// The conflict.
    public let conflict: Conflict
    /// The policy's decision; `nil` if racing answers are settled without calling it.
    public let decision: PolicyDecision?
    /// The revisions that would be written.
    public let plan: SettlementPlan
}
