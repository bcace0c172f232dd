package import RevisionTree

/// Stores what peers have made together with what settles the conflicts it makes, in one transaction: nobody ever sees what
/// came as the winner that the policy decides against (SEMANTICS 161).
///
///     store() ──┬─▶ no conflict, or each one is decided: committed
///        ▲      └─▶ undone; the missing bases are fetched, and the policy is asked, outside of the transaction
///        └──────────────── bases and decisions
///
/// A decision counts as long as the leaves are the ones it was made about; when somebody has edited the document meanwhile,
/// the policy is asked again (35).
struct IncomingSettlement: Sendable {
    /// What a policy said of a conflict.
    private struct Decision: Sendable {
        let conflict: Conflict
        let answer: Result<PolicyDecision, DatabaseError>
        let time: Duration
    }

    /// What is needed before a conflict can be stored settled.
    struct Question: Error {
        var conflicts: [Conflict] = []
        var bases: [(id: DocumentID, revisions: [RevisionID])] = []
    }

    /// What was stored, and what became of the conflicts.
    typealias Stored = (
        outcomes: [ReplicatedRevision.Outcome], settlements: [DocumentID: Result<Settlement, DatabaseError>]
    )

    let database: Database
    let policy: ConflictPolicy
    let revisions: [ReplicatedRevision]
    let refusesBranches: Bool
    /// Revisions in which branches part, to be stored behind the others.
    var bases: [ReplicatedRevision] = []
    /// The documents whose bases were asked for.
    var asked: Set<DocumentID> = []
    private var decisions: [DocumentID: Decision] = [:]
    private var rounds = 0
    /// How often everything is begun anew before conflicts are stored as they are, to be settled later.
    private static let mostRounds = 20

    init(_ revisions: [ReplicatedRevision], refusesBranches: Bool, _ policy: ConflictPolicy, _ database: Database) {
        (self.revisions, self.refusesBranches, self.policy, self.database) =
            (revisions, refusesBranches, policy, database)
    }

    /// Stores everything, or says what is missing.
    ///
    /// - Throws: ``Question`` when nothing was stored; ``DatabaseError``.
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
            if rounds < Self.mostRounds, !question.conflicts.isEmpty || !question.bases.isEmpty { throw question }
            return (outcomes, settlements)
        }
    }

    /// The documents in conflict among those that came, in order.
    private func conflicted(_ outcomes: [ReplicatedRevision.Outcome]) throws -> [DocumentID] {
        // Most databases have none at all, and an index tells.
        guard try policy.kinds.contains(where: { try !database.conflictedDocumentIDs($0, limit: 1).isEmpty }) else {
            return []
        }
        let arrived = Set(zip(revisions, outcomes).compactMap { $1.isRefused ? nil : $0.id })
        return try database.conflicted(among: arrived.sorted(), policy.kinds)
    }

    /// Settles the conflict of a document by the decision that is known, or adds it to the questions.
    private func settle(_ id: DocumentID, _ question: inout Question) throws -> Settlement? {
        if !asked.contains(id), case let missing = try database.missingBases(of: id), !missing.isEmpty {
            question.bases.append((id, missing))
            return nil
        }
        var run = SettlementRun(id, policy, database)
        guard let conflict = try run.conflict() else { return run.settlement }
        guard let decision = decisions[id], decision.conflict.isSame(as: conflict) else {
            question.conflicts.append(conflict)
            return nil
        }
        try run.apply(try decision.answer.get(), to: conflict, took: decision.time)
        return run.settlement
    }

    /// Takes what the policy says of a conflict.
    mutating func take(_ answer: Result<PolicyDecision, DatabaseError>, of conflict: Conflict, took time: Duration) {
        decisions[conflict.documentID] = Decision(conflict: conflict, answer: answer, time: time)
    }
}

extension Database {
    /// Stores revisions as ``insertReplicated(_:)`` does, and settles in the same transaction the conflicts that come of it.
    ///
    /// The policy is asked outside of any transaction, before anything is stored. One that waits is not asked here: see
    /// ``ConflictPolicy/answersAtOnce``.
    ///
    /// - Parameters:
    ///   - revisions: The revisions.
    ///   - refusingBranches: As in ``insertReplicated(_:refusingBranches:)``.
    ///   - policy: The rule.
    ///   - bases: Fetches revisions in which branches part and whose contents are not kept here, as far as it can.
    /// - Returns: For each revision what became of it, and for each document in conflict what became of that; a conflict
    ///   without an entry could not be settled with it, since others wrote all the time, and stays.
    /// - Throws: ``DatabaseError`` when the transaction as a whole fails, `CancellationError`; nothing is written then.
    package func insertReplicated(
        _ revisions: [ReplicatedRevision], refusingBranches: Bool, settlingBy policy: ConflictPolicy,
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
                for conflict in question.conflicts {
                    let start = ContinuousClock.now
                    let answer: Result<PolicyDecision, DatabaseError>
                    do { answer = .success(try await policy.decide(conflict)) } catch let error as DatabaseError {
                        answer = .failure(error)
                    }
                    run.take(answer, of: conflict, took: ContinuousClock.now - start)
                }
            }
        }
    }
}

extension ConflictPolicy {
    /// Whether it decides without waiting for a person or a service.
    package var answersAtOnce: Bool { if case .now = decider { true } else { false } }
}

extension Conflict {
    /// Whether a decision about another conflict counts for this one: the leaves are the same, and what is known of their
    /// bases.
    fileprivate func isSame(as other: Conflict) -> Bool {
        revisions == other.revisions && base?.revision == other.base?.revision
            && Set(bases.keys) == Set(other.bases.keys)
    }
}

extension ReplicatedRevision.Outcome {
    fileprivate var isRefused: Bool { if case .refused = self { true } else { false } }
}
