package import SettleCore

/// Settles one conflict: reads it, calls the policy, writes, and repeats if the document changed in between
/// (SEMANTICS 35).
///
///     conflict() ──▶ the policy is called, outside ──▶ apply() ──┬─▶ done
///        ▲                                                       │
///        └──────────────── the leaves have changed ──────────────┘
///
/// Racing answers are settled first, without calling the policy. The source determines the location of the
/// conflict. Each settlement uses a run, so the same revisions are written everywhere (82).
package struct SettlementRun<Source: SettlementSource> {
    /// The location of the conflict.
    package private(set) var source: Source
    private let policy: ConflictPolicy
    /// The result so far.
    package private(set) var settlement: Settlement
    private var isDone = false
    private var attempts = 0

    /// Begins to settle the conflict of a document.
    package init(_ id: DocumentID, _ policy: ConflictPolicy, at source: Source) {
        (self.policy, self.source) = (policy, source)
        settlement = Settlement(id, .nothing)
    }

    /// The conflict that the policy must decide next; `nil` at the end.
    mutating func conflict() throws -> Conflict? {
        while !isDone {
            guard let conflict = try source.conflict(policy.kinds) else { return nil }
            guard let preview = try race(in: conflict) else { return conflict }
            guard try write(preview) else { continue }
            record(preview)
        }
        return nil
    }

    /// Carries out a decision, unless the document was changed meanwhile.
    mutating func apply(_ decision: PolicyDecision, to conflict: Conflict, took time: Duration) throws {
        try apply(preview(of: decision, conflict), took: time)
    }

    private mutating func apply(_ preview: SettlementPreview, took time: Duration) throws {
        settlement.timeInPolicy += time
        record(preview)
        if preview.plan.survivor == nil {
            isDone = true
        } else if try write(preview) {
            isDone = true
        }
    }

    /// Settles the conflict by a policy that does not wait.
    ///
    /// - Parameter early: The decision, if it was made ahead. If the leaves have changed since, the policy decides again.
    /// - Returns: The result.
    /// - Throws: As ``Database/settle(_:using:)``, and errors of the source.
    package mutating func settle(_ early: EarlyDecision? = nil) throws -> Settlement {
        if let early, try early.isValid(at: source) { try apply(early.preview, took: early.time) }
        while let conflict = try conflict() {
            let start = ContinuousClock.now
            let decision = try policy.decideNow(conflict)
            try apply(decision, to: conflict, took: ContinuousClock.now - start)
        }
        return settlement
    }

    /// The first revisions that ``settle()`` would write; `nil` if there is nothing to settle.
    package func preview() throws -> SettlementPreview? {
        guard let conflict = try source.conflict(policy.kinds) else { return nil }
        return try race(in: conflict) ?? preview(of: policy.decideNow(conflict), conflict)
    }

    /// The revisions that settle racing answers; `nil` if no answers race.
    private func race(in conflict: Conflict) throws -> SettlementPreview? {
        guard policy.endsRaces, let race = conflict.race else { return nil }
        let plan = try SettlementPlan(race, of: conflict)
        return SettlementPreview(conflict: conflict, decision: nil, plan: plan)
    }

    /// The revisions that carry out a decision.
    private func preview(of decision: PolicyDecision, _ conflict: Conflict) throws -> SettlementPreview {
        try SettlementPreview(decision, of: conflict, by: policy, at: source, source.attributesKeptOnDelete)
    }

    /// Writes a plan in one transaction (SEMANTICS 72); `false` if the leaves have changed.
    private mutating func write(_ preview: SettlementPreview) throws -> Bool {
        try checkAttempts()
        attempts += 1
        guard try source.write(preview, by: policy) else {
            // Check the attempts first, so that the policy is not asked for a decision that can't be carried out.
            try checkAttempts()
            return false
        }
        settlement.wrote(preview.plan)
        return true
    }

    private func checkAttempts() throws {
        guard attempts < source.maximumAttempts else {
            throw source.gaveUp(settlement.documentID, attempts: attempts)
        }
    }

    private mutating func record(_ preview: SettlementPreview) {
        for warning in settlement.add(preview, by: policy) { source.warn(warning) }
    }
}

extension SettlementRun: Sendable where Source: Sendable {}

// MARK: - EarlyDecision

/// A decision, with its plan, that was made before its conflict's turn to be written.
package struct EarlyDecision: Sendable {
    let preview: SettlementPreview
    /// The time that the policy took.
    let time: Duration
    /// The attributes that a deletion keeps, as they were read for the plan; `nil` if it does not depend on them.
    private let keptOnDelete: Set<String>?

    /// Reads a conflict and decides it; `nil` if there is nothing to decide, or if that fails. The conflict's own turn
    /// then shows why.
    init?(_ source: some SettlementSource, _ policy: ConflictPolicy) {
        guard let conflict = try? source.conflict(policy.kinds), conflict.race == nil else { return nil }
        let start = ContinuousClock.now
        guard let decision = try? policy.decideNow(conflict) else { return nil }
        time = ContinuousClock.now - start
        var names: Set<String>?
        let preview = try? SettlementPreview(decision, of: conflict, by: policy, at: source) {
            let read = try source.attributesKeptOnDelete()
            names = read
            return read
        }
        // Nothing is written of a conflict that is left, so only its own turn can notice that the leaves have changed.
        guard let preview, preview.plan.survivor != nil else { return nil }
        (self.preview, keptOnDelete) = (preview, names)
    }

    /// Whether the plan is still that of the decision. The leaves are compared when it is written.
    func isValid(at source: some SettlementSource) throws -> Bool {
        try keptOnDelete.map { try $0 == source.attributesKeptOnDelete() } ?? true
    }
}

// MARK: - SettlementPreview

/// A policy's decision about a conflict, and the revisions it would write; nothing is written.
public struct SettlementPreview: Sendable {
    /// The conflict.
    public let conflict: Conflict
    /// The policy's decision; `nil` if racing answers are settled without calling it.
    public let decision: PolicyDecision?
    /// The revisions that would be written.
    public let plan: SettlementPlan

    /// The result of carrying it out.
    package func settlement(by policy: ConflictPolicy) -> Settlement {
        var settlement = Settlement(conflict.documentID, .nothing)
        settlement.add(self, by: policy)
        if plan.survivor != nil { settlement.wrote(plan) }
        return settlement
    }
}

extension SettlementPreview {
    /// Plans the revisions that carry out a decision.
    init(
        _ decision: PolicyDecision, of conflict: Conflict, by policy: ConflictPolicy, at source: some SettlementSource,
        _ names: () throws -> Set<String>
    ) throws {
        let plan = try SettlementPlan(
            decision.resolution, of: conflict, resolver: policy.resolver, origin: source.origin, keepingOnDelete: names)
        self.init(conflict: conflict, decision: decision, plan: plan)
    }
}
