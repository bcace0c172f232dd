public import SettleCore

/// The result of settling one conflict.
public struct Settlement: Sendable {
    /// The kinds of results.
    public enum Outcome: String, Sendable, Hashable {
        /// One revision replaced all leaves.
        case settled
        /// The policy left the conflict unchanged (SEMANTICS 75).
        case left
        /// There was nothing to settle, or another client settled it meanwhile (SEMANTICS 36, 76).
        case nothing
    }

    /// The document's id.
    public let documentID: DocumentID
    /// The kind of result.
    public internal(set) var outcome: Outcome
    /// The revision that replaced all leaves; `nil` unless settled.
    public internal(set) var survivor: RevisionID?
    /// The leaves that were closed or continued.
    public internal(set) var superseded: [RevisionID] = []
    /// The revisions written, in order.
    public internal(set) var written: [RevisionID] = []
    /// The policy's last decision; `nil` if it was not called.
    public internal(set) var decision: PolicyDecision?
    /// The number of times that the policy was called: more than once if the document was changed meanwhile (SEMANTICS 35).
    public internal(set) var attempts = 0
    /// The policy's total time (SEMANTICS 44).
    public internal(set) var timeInPolicy: Duration = .zero
    /// Racing answers of replicas that settled concurrently by different rules, or with different leaves. The one
    /// that had seen all edits stayed, the highest among equals, and the policy was not called.
    public internal(set) var racingAnswers: [RevisionID] = []
    /// Other resolvers, or other versions of this one, that decided about this document before.
    public internal(set) var otherResolvers: [ResolverIdentity] = []
    /// Non-fatal warnings: a wrong document id, an impure resolver, a race, a mixed fleet.
    public internal(set) var warnings: [String] = []

    package init(_ documentID: DocumentID, _ outcome: Outcome) {
        self.documentID = documentID
        self.outcome = outcome
    }

    /// Records a plan, before it is carried out.
    ///
    /// - Returns: The warnings that are new.
    @discardableResult
    mutating func add(_ preview: SettlementPreview, by policy: ConflictPolicy) -> [String] {
        let conflict = preview.conflict
        var new = preview.plan.warnings
        if let decision = preview.decision {
            attempts += 1
            self.decision = decision
            if decision.isImpure {
                new.insert(
                    """
                    the policy \(policy) answered differently when asked twice about \"\(documentID)\"; replicas that use it write \
                    different revisions, and which of them stays is chance
                    """, at: 0)
            }
            let others = conflict.resolvers.filter { $0 != policy.resolver }.map { $0 }
            otherResolvers = others.sorted { $0.description < $1.description }
            if policy.resolver != nil, !others.isEmpty {
                let names = otherResolvers.map(\.description).joined(separator: ", ")
                new.append(
                    "\"\(documentID)\" is settled by \(policy), but was settled by \(names) before: the fleet is mixed")
            }
            if preview.plan.survivor == nil { (outcome, survivor) = (.left, nil) }
        } else if let race = conflict.race {
            racingAnswers += race.answers
            new.append(
                """
                \"\(documentID)\" was settled in \(race.answers.count) ways at the same time; what \(race.survivor) says stays. \
                The replicas saw different edits, use different resolvers, or one that does not always answer the same
                """)
        }
        // A decision that came too late is made again, and causes the same warnings.
        new.removeAll(where: warnings.contains)
        warnings += new
        return new
    }

    /// Records that a plan was carried out.
    mutating func wrote(_ plan: SettlementPlan) {
        outcome = .settled
        survivor = plan.survivor
        superseded += plan.writes.map(\.parent)
        written += plan.writes.map(\.revision)
    }
}

// MARK: - SettlementReport

/// The result of settling all conflicts of a database.
public struct SettlementReport: Sendable {
    /// A conflict that stays, with the reason.
    public struct Failure: Sendable {
        /// The document.
        public let documentID: DocumentID
        /// The reason why its conflict was not settled.
        public let error: DatabaseError
    }

    /// The number of conflicts that were settled.
    public private(set) var settled = 0
    /// How many the policy left (SEMANTICS 75).
    public private(set) var left = 0
    /// How many no longer existed when their turn came.
    public private(set) var gone = 0
    /// How many could not be settled.
    public private(set) var failed = 0
    /// The first 1000 of those that could not be settled.
    public internal(set) var failures: [Failure] = []
    /// How many had racing answers.
    public private(set) var races = 0
    /// The number of revisions that were written.
    public private(set) var revisionsWritten = 0
    /// The policy's total time.
    public internal(set) var timeInPolicy: Duration = .zero
    /// The document for which the policy took longest, with the time.
    public internal(set) var slowest: (documentID: DocumentID, time: Duration)?
    /// Other resolvers, or other versions of this one, that decided before.
    public internal(set) var otherResolvers: Set<ResolverIdentity> = []

    private static let maximumFailures = 1000

    package init() {}

    /// The number of conflicts that were processed.
    public var total: Int { settled + left + gone + failed }

    /// Counts a conflict that was settled, or left.
    package mutating func add(_ settlement: Settlement) {
        switch settlement.outcome {
        case .settled: settled += 1
        case .left: left += 1
        case .nothing: gone += 1
        }
        if !settlement.racingAnswers.isEmpty { races += 1 }
        revisionsWritten += settlement.written.count
        timeInPolicy += settlement.timeInPolicy
        otherResolvers.formUnion(settlement.otherResolvers)
        if settlement.attempts > 0, settlement.timeInPolicy > slowest?.time ?? .zero {
            slowest = (settlement.documentID, settlement.timeInPolicy)
        }
    }

    /// Adds the counts of a page that was settled elsewhere, by the names that they have there.
    package mutating func add(_ counts: (String) -> Int) {
        for (name, count) in Self.counts { self[keyPath: count] += counts(name) }
    }

    /// The counts by the names that the server and the tool print.
    package var counts: [(name: String, count: Int)] { Self.counts.map { ($0.name, self[keyPath: $0.count]) } }

    private static let counts: [(name: String, count: any WritableKeyPath<SettlementReport, Int> & Sendable)] = [
        ("settled", \.settled), ("left", \.left), ("gone", \.gone), ("failed", \.failed),
        ("written", \.revisionsWritten), ("races", \.races),
    ]

    /// Counts a conflict that could not be settled, without its error.
    package mutating func addFailure() { failed += 1 }

    mutating func add(_ error: DatabaseError, _ id: DocumentID) {
        if error.code == .notFound {
            gone += 1
            return
        }
        addFailure()
        if failures.count < Self.maximumFailures { failures.append(Failure(documentID: id, error: error)) }
    }
}
