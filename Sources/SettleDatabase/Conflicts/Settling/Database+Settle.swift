package import SettleCore

extension Database {
    /// Settles the conflict of a document.
    ///
    /// The policy is called outside of any lock and transaction, and the leaves are read again before anything is
    /// written; if they have changed, it is called again (SEMANTICS 35, 38). Everything is written in one transaction
    /// (72): the result as a child of the winner, unless the winner stays, and a closing tombstone for each other leaf.
    /// Every replica that settles the same leaves by the same rule writes the same revisions (82).
    ///
    ///     let settlement = try database.settle("milk", using: .threeWayMerge())
    ///     settlement.outcome        // .settled
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - policy: The rule; one that waits needs ``settle(_:asking:)``.
    /// - Returns: The result; `nothing` if there was no conflict (SEMANTICS 36, 76).
    /// - Throws: ``DatabaseError`` with code `resolverFailed` with the rule's error as cause, `timedOut`,
    ///   `foreignDocument`, `invalid`, `attachmentMissing`, `refused` by a validation, `notFound` if the document does
    ///   not exist or was purged (34). The conflict is unchanged then, and can be settled again (28, 31).
    @discardableResult
    public func settle(_ id: some DocumentIDConvertible, using policy: ConflictPolicy) throws -> Settlement {
        let id = try id.ofDocument()
        var run = SettlementRun(id, policy, self)
        do {
            while let conflict = try run.conflict() {
                let start = ContinuousClock.now
                let decision = try policy.decideNow(conflict)
                try run.apply(decision, to: conflict, took: ContinuousClock.now - start)
            }
        } catch { throw reported(error, id) }
        return run.settlement
    }

    /// Settles the conflict of a document by a policy that may wait, for a person for example; otherwise like
    /// ``settle(_:using:)``. No lock is held while it waits.
    ///
    /// - Throws: As ``settle(_:using:)``, and `CancellationError`.
    @discardableResult
    public func settle(_ id: some DocumentIDConvertible, asking policy: ConflictPolicy) async throws -> Settlement {
        try await settle(id.ofDocument(), asking: policy, beside: nil)
    }

    /// Settles a conflict like ``settle(_:asking:)``, and merges on a peer's former state where the base is not kept.
    @discardableResult
    package func settle(
        _ id: DocumentID, asking policy: ConflictPolicy, beside peer: FormerState?
    ) async throws -> Settlement {
        var run = SettlementRun(id, policy, beside: peer, self)
        do {
            while true {
                let reading = run
                let (read, conflict) = try await perform { _ in
                    var run = reading
                    let conflict = try run.conflict()
                    return (run, conflict)
                }
                run = read
                guard let conflict else { return run.settlement }
                let start = ContinuousClock.now
                let decision = try await policy.decide(conflict)
                let time = ContinuousClock.now - start
                let asked = run
                run = try await perform { _ in
                    var run = asked
                    try run.apply(decision, to: conflict, took: time)
                    return run
                }
            }
        } catch { throw reported(error, id) }
    }

    /// Returns what a policy would decide about a conflict and what that would write; nothing is written. `nil` if
    /// there is nothing to settle.
    ///
    /// - Throws: As ``settle(_:using:)``, except for refusals by a validation.
    public func preview(_ id: some DocumentIDConvertible, using policy: ConflictPolicy) throws -> SettlementPreview? {
        guard let conflict = try conflict(of: id, kinds: policy.kinds) else { return nil }
        if policy.endsRaces, let plan = try SettlementRun.racePlan(conflict, self) {
            return SettlementPreview(conflict: conflict, decision: nil, plan: plan)
        }
        let decision = try policy.decideNow(conflict)
        let plan = try SettlementRun.plan(decision, conflict, policy, self)
        return SettlementPreview(conflict: conflict, decision: decision, plan: plan)
    }

    /// Logs why a conflict stays (SEMANTICS 29).
    func reported<Failure: Error>(_ failure: Failure, _ id: DocumentID) -> Failure {
        if let error = failure as? DatabaseError, error.code.isOfOneDocument, error.code != .notFound {
            warn("the conflict of \"\(id)\" was not settled: \(error)", in: .conflicts)
        }
        return failure
    }
}
