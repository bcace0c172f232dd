package import SettleCore

extension Database {
    /// The conflict of a document, ready to be shown or settled; `nil` if the document is not in conflict.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - kinds: The kinds to look for; by default both.
    /// - Returns: The current conflict.
    /// - Throws: ``DatabaseError`` with code `invalid` for an invalid id, `damagedDocument`, `corrupt`, `inputOutput`
    ///   or `closed`.
    /// - Complexity: O(*n* + *l*²) for a tree of *n* revisions with *l* leaves.
    public func conflict(
        of id: some DocumentIDConvertible, kinds: Set<ConflictKind> = Set(ConflictKind.allCases)
    ) throws -> Conflict? {
        let id = try id.ofDocument()
        return try engine.snapshot { reader in
            guard let record = try reader.record(of: id, withContent: true) else { return nil }
            return try conflict(in: record, kinds, reader)
        }
    }

    /// The conflict in a record.
    func conflict(
        in record: DocumentRecord, _ kinds: Set<ConflictKind>, beside peer: FormerState? = nil,
        _ reader: any StorageReader
    ) throws -> Conflict? {
        do {
            return try Conflict(record, concerns: kinds, origin: identity, beside: peer) { try reader.content(at: $0) }
        } catch let error as DatabaseError where error.code == .damagedDocument {
            throw DatabaseError.damaged(record.id, "a revision in conflict", cause: error)
        }
    }
}

// MARK: - Settle

extension Database {
    /// Settles the conflict of a document.
    ///
    /// The policy is called outside any lock and transaction. The leaves are read again before anything is written;
    /// if they have changed, the policy is called again (SEMANTICS 35, 38). Everything is written in one
    /// transaction (72): the result as a child of the winner, unless the winner stays, and a closing tombstone for
    /// each other leaf. Every replica that settles the same leaves by the same rule writes the same revisions (82).
    ///
    ///     let settlement = try database.settle("milk", using: .threeWayMerge())
    ///     settlement.outcome        // .settled
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - policy: The rule; a rule that waits needs ``settle(_:asking:)``.
    /// - Returns: The result; `nothing` if the document was not in conflict (SEMANTICS 36, 76).
    /// - Throws: ``DatabaseError`` with code `resolverFailed` with the rule's error as cause, `timedOut`,
    ///   `foreignDocument`, `invalid`, `attachmentMissing`, `refused` by a validation, `damagedDocument`, `notFound` if
    ///   the document does not exist or was purged (34). The conflict is then unchanged, and can be settled again
    ///   (28, 31).
    @discardableResult
    public func settle(_ id: some DocumentIDConvertible, using policy: ConflictPolicy) throws -> Settlement {
        try settle(id.ofDocument(), policy, early: nil)
    }

    private func settle(_ id: DocumentID, _ policy: ConflictPolicy, early: EarlyDecision?) throws -> Settlement {
        var run = SettlementRun(id, policy, at: LocalSource(id, in: self, mustExist: true))
        do { return try run.settle(early) } catch { throw reported(error, id) }
    }

    /// Settles the conflict of a document by a policy that may wait, for example for a person; otherwise like
    /// ``settle(_:using:)``. No lock is held while it waits.
    ///
    /// - Throws: As ``settle(_:using:)``, and `CancellationError`.
    @discardableResult
    public func settle(_ id: some DocumentIDConvertible, asking policy: ConflictPolicy) async throws -> Settlement {
        try await settle(id.ofDocument(), asking: policy, beside: nil)
    }

    /// Settles a conflict like ``settle(_:asking:)``, and merges on a peer's former state if the base is not kept.
    @discardableResult
    package func settle(
        _ id: DocumentID, asking policy: ConflictPolicy, beside peer: FormerState?
    ) async throws -> Settlement {
        var run = SettlementRun(id, policy, at: LocalSource(id, in: self, mustExist: true, beside: peer))
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

    /// Returns the decision of a policy about a conflict and the revisions it would write; nothing is written.
    /// `nil` if there is nothing to settle.
    ///
    /// - Throws: As ``settle(_:using:)``, except for refusals by a validation.
    public func preview(_ id: some DocumentIDConvertible, using policy: ConflictPolicy) throws -> SettlementPreview? {
        let id = try id.ofDocument()
        return try SettlementRun(id, policy, at: LocalSource(id, in: self)).preview()
    }

    /// Logs the reason why a conflict stays (SEMANTICS 29).
    func reported<Failure: Error>(_ failure: Failure, _ id: DocumentID) -> Failure {
        if let error = failure as? DatabaseError, error.code.isOfOneDocument, error.code != .notFound {
            warn("the conflict of \"\(id)\" was not settled: \(error)", in: .conflicts)
        }
        return failure
    }
}

// MARK: - Settle All

extension Database {
    /// Settles all conflicts, one document after another. A conflict that can't be settled does not stop the rest
    /// (SEMANTICS 85).
    ///
    ///     let report = try database.settleAll(using: .threeWayMerge())
    ///     for failure in report.failures { print(failure.documentID, failure.error) }
    ///
    /// Each document has its own transaction, so the call may be stopped or killed at any point and repeated. An index
    /// finds the conflicts in bounded memory.
    ///
    /// - Parameters:
    ///   - policy: The rule; a rule that waits needs ``settleAll(asking:atOnce:progress:)``.
    ///   - progress: Called with the progress, after each document.
    /// - Returns: The numbers of settled, left and failed conflicts.
    /// - Throws: ``DatabaseError`` if the database fails (`diskFull`, `inputOutput`, `corrupt`, `closed`), or an
    ///   error that `progress` throws to stop the call. Conflicts that were settled before stay settled.
    @discardableResult
    public func settleAll(
        using policy: ConflictPolicy, progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) throws -> SettlementReport {
        var report = SettlementReport()
        let total = try conflictCount(policy.kinds)
        var sweep = ConflictSweep(policy.kinds)
        while case let page = try sweep.next(in: self), !page.isEmpty {
            let early = earlyDecisions(of: page, policy)
            defer { early?.end() }
            for (index, id) in page.enumerated() {
                do { report.add(try settle(id, policy, early: early?.dequeue(index))) } catch let error as DatabaseError
                    where error.code.isOfOneDocument
                { report.add(error, id) }
                try progress(MaintenanceProgress("conflicts", report.total, of: max(total, report.total)))
            }
        }
        return report
    }

    /// Starts to read and decide conflicts while earlier ones are written.
    ///
    /// - Returns: The decisions; `nil` for a policy that runs code of the app, which is called on the caller's thread, in a
    ///   transaction, which only the caller's thread sees, and without files, where reads wait for writes.
    private func earlyDecisions(
        of page: [DocumentID], _ policy: ConflictPolicy
    ) -> WorkAhead<DocumentID, EarlyDecision>? {
        guard policy.mayRunAhead, page.count > 1, files != nil, !engine.isWriting else { return nil }
        return WorkAhead(page) { id in EarlyDecision(LocalSource(id, in: self), policy) }
    }

    /// Settles all conflicts by a policy that may wait, several documents concurrently; otherwise like
    /// ``settleAll(using:progress:)``.
    ///
    /// - Parameters:
    ///   - policy: The rule.
    ///   - atOnce: The number of documents that are settled concurrently; 1 for a person who answers one question
    ///     at a time.
    ///   - progress: Called with the progress, after each document.
    /// - Returns: The numbers of settled, left and failed conflicts.
    /// - Throws: As ``settleAll(using:progress:)``, and `CancellationError`.
    @discardableResult
    public func settleAll(
        asking policy: ConflictPolicy, atOnce: Int = 4, progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) async throws -> SettlementReport {
        var report = SettlementReport()
        let total = try await perform { try $0.conflictCount(policy.kinds) }
        var sweep = ConflictSweep(policy.kinds)
        while case let page = try await sweep.next(in: self), !page.isEmpty {
            try await settle(page, policy, atOnce: max(1, atOnce)) { id, outcome in
                switch outcome {
                case .success(let settlement): report.add(settlement)
                case .failure(let error): report.add(error, id)
                }
                try progress(MaintenanceProgress("conflicts", report.total, of: max(total, report.total)))
            }
        }
        return report
    }

    private func settle(
        _ ids: [DocumentID], _ policy: ConflictPolicy, atOnce: Int,
        _ report: (DocumentID, Result<Settlement, DatabaseError>) throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: (DocumentID, Result<Settlement, DatabaseError>).self) { group in
            var rest = ids[...]
            func addNext() {
                guard let id = rest.popFirst() else { return }
                group.addTask {
                    do { return (id, .success(try await self.settle(id, asking: policy))) } catch let error
                        as DatabaseError where error.code.isOfOneDocument
                    { return (id, .failure(error)) }
                }
            }
            for _ in 0..<atOnce { addNext() }
            while let (id, outcome) = try await group.next() {
                try report(id, outcome)
                addNext()
            }
        }
    }
}
