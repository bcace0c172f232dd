package import SettleCore

/// Stores replicated revisions together with the settlement of the conflicts they cause, in one transaction. So no
/// reader sees a replicated winner that the policy decides against (SEMANTICS 161).
///
///     store() ──┬─▶ no conflict, or each one is decided: committed
///        ▲      └─▶ rolled back; missing bases are fetched, and the policy is called, outside of the transaction
///        └──────────────── bases and decisions
///
/// A decision is valid while the leaves are the same; if the document was edited meanwhile, the policy is called
/// again (35).
struct IncomingSettlement: Sendable {
    /// The policy's decision about a conflict.
    private struct Decision: Sendable {
        let conflict: Conflict
        let answer: Result<PolicyDecision, DatabaseError>
        let time: Duration
    }

    /// The decisions and merge bases that are missing before the revisions can be stored with their conflicts
    /// settled.
    struct Question: Error {
        var conflicts: [Conflict] = []
        var bases: [(id: DocumentID, revisions: [RevisionID])] = []
    }

    /// The outcomes of the revisions and of the conflicts.
    typealias Stored = (
        outcomes: [ReplicatedRevision.Outcome], settlements: [DocumentID: Result<Settlement, DatabaseError>]
    )

    let database: Database
    let policy: ConflictPolicy
    let revisions: [ReplicatedRevision]
    let refusesBranches: Bool
    /// Merge bases, to be stored after the revisions.
    var bases: [ReplicatedRevision] = []
    /// The documents whose bases were requested.
    var asked: Set<DocumentID> = []
    private var decisions: [DocumentID: Decision] = [:]
    private var rounds = 0
    /// The maximum number of restarts. After that, conflicts are stored unsettled, to be settled later.
    private static let maximumRounds = 20

    init(_ revisions: [ReplicatedRevision], refusesBranches: Bool, _ policy: ConflictPolicy, _ database: Database) {
        (self.revisions, self.refusesBranches, self.policy, self.database) =
            (revisions, refusesBranches, policy, database)
    }

    /// Stores everything, or throws a question with the missing parts.
    ///
    /// - Throws: ``Question`` if nothing was stored; ``DatabaseError``.
    mutating func store() throws -> Stored {
        rounds += 1
        return try database.transaction {
            var outcomes = try database.insertReplicated(revisions + bases, refusingBranches: refusesBranches)
            outcomes.removeLast(bases.count)
            var (settlements, question) = ([DocumentID: Result<Settlement, DatabaseError>](), Question())
            for id in try conflicted(outcomes) {
                do { settlements[id] = try settle(id, &question).map { .success($0) } } catch let error as DatabaseError
                    where error.code.isOfOneDocument
                { settlements[id] = .failure(database.reported(error, id)) }
            }
            if rounds < Self.maximumRounds, !question.conflicts.isEmpty || !question.bases.isEmpty { throw question }
            return (outcomes, settlements)
        }
    }

    /// The documents in conflict among the stored ones, in order.
    private func conflicted(_ outcomes: [ReplicatedRevision.Outcome]) throws -> [DocumentID] {
        // Most databases have no conflicts; an index shows this quickly.
        if try ConflictSweep(policy.kinds).isEmpty(in: database) { return [] }
        let arrived = Set(zip(revisions, outcomes).compactMap { $1.isRefused ? nil : $0.id })
        return try database.conflicted(among: arrived.sorted(), policy.kinds)
    }

    /// Settles the conflict of a document by a known decision, or adds the conflict to the question.
    private func settle(_ id: DocumentID, _ question: inout Question) throws -> Settlement? {
        let peer = revisions.lazy.filter { $0.id == id }.compactMap(\.formerState).first
        if peer == nil, !asked.contains(id), case let missing = try database.missingBases(of: id), !missing.isEmpty {
            question.bases.append((id, missing))
            return nil
        }
        var run = SettlementRun(id, policy, at: LocalSource(id, in: database, mustExist: true, beside: peer))
        guard let conflict = try run.conflict() else { return run.settlement }
        guard let decision = decisions[id], decision.conflict.isSame(as: conflict) else {
            question.conflicts.append(conflict)
            return nil
        }
        try run.apply(try decision.answer.get(), to: conflict, took: decision.time)
        return run.settlement
    }

    /// Calls the policy about conflicts, as many at a time as there are slots, and stores its decisions.
    ///
    /// - Throws: `CancellationError`.
    mutating func decide(_ conflicts: [Conflict], _ slots: SettlingSlots) async throws {
        let policy = policy
        try await withThrowingTaskGroup(of: Decision.self) { group in
            for conflict in conflicts {
                group.addTask {
                    try await slots.using {
                        let start = ContinuousClock.now
                        let answer: Result<PolicyDecision, DatabaseError>
                        do { answer = .success(try await policy.decide(conflict)) } catch let error as DatabaseError {
                            answer = .failure(error)
                        }
                        return Decision(conflict: conflict, answer: answer, time: ContinuousClock.now - start)
                    }
                }
            }
            for try await decision in group { keep(decision) }
        }
    }

    /// The number of documents that the policy was called about, including those of a question.
    func count(with question: Question) -> Int {
        Set(decisions.keys).union(question.conflicts.map(\.documentID)).count
    }

    private mutating func keep(_ decision: Decision) { decisions[decision.conflict.documentID] = decision }
}

extension Database {
    /// Stores revisions like ``insertReplicated(_:)``, and settles the conflicts they cause in the same transaction.
    ///
    /// The policy is called outside any transaction, before anything is stored, off the caller's thread. A policy
    /// that waits is not called here: see ``ConflictPolicy/answersAtOnce``.
    ///
    /// - Parameters:
    ///   - revisions: The revisions.
    ///   - refusingBranches: As in ``insertReplicated(_:refusingBranches:)``.
    ///   - policy: The rule.
    ///   - slots: Limits the number of conflicts that the policy is called about at a time.
    ///   - onAsking: Called before the policy, with the number of documents that the policy was or will be called
    ///     about.
    ///   - bases: Fetches the merge bases whose contents are not kept here, if possible.
    /// - Returns: The outcome of each revision, and of each document in conflict. A conflict without an outcome stays,
    ///   because other writers kept changing the document.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails, `CancellationError`; nothing is written then.
    package func insertReplicated(
        _ revisions: [ReplicatedRevision], refusingBranches: Bool, settlingBy policy: ConflictPolicy,
        slots: SettlingSlots, onAsking: @Sendable (Int) -> Void,
        bases: @Sendable (DocumentID, [RevisionID]) async -> [ReplicatedRevision]
    ) async throws -> (
        outcomes: [ReplicatedRevision.Outcome], settlements: [DocumentID: Result<Settlement, DatabaseError>]
    ) {
        var run = IncomingSettlement(revisions, refusesBranches: refusingBranches, policy, self)
        while true {
            let before = run
            let (next, result) = try await perform { _ in
                var run = before
                do {
                    return (
                        run, Result<IncomingSettlement.Stored, IncomingSettlement.Question>.success(try run.store())
                    )
                } catch let question as IncomingSettlement.Question { return (run, .failure(question)) }
            }
            run = next
            switch result {
            case .success(let stored): return stored
            case .failure(let question):
                for (id, missing) in question.bases {
                    run.asked.insert(id)
                    run.bases += await bases(id, missing)
                }
                onAsking(run.count(with: question))
                try await run.decide(question.conflicts, slots)
            }
        }
    }
}

extension ConflictPolicy {
    /// Whether it decides without waiting for a person or a service.
    package var answersAtOnce: Bool { if case .now = decider { true } else { false } }
}

extension Conflict {
    /// Whether a decision about another conflict is valid for this one: the leaves and the known bases are the
    /// same.
    fileprivate func isSame(as other: Conflict) -> Bool {
        revisions == other.revisions && base?.revision == other.base?.revision
            && Set(bases.keys) == Set(other.bases.keys)
    }
}

extension ReplicatedRevision.Outcome {
    fileprivate var isRefused: Bool { if case .refused = self { true } else { false } }
}
