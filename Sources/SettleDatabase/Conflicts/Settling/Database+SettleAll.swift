internal import SettleCore

extension Database {
    /// Settles all conflicts, one document after another; one that can't be settled does not stop the others
    /// (SEMANTICS 85).
    ///
    ///     let report = try database.settleAll(using: .threeWayMerge())
    ///     for failure in report.failures { print(failure.documentID, failure.error) }
    ///
    /// Each document has its own transaction, so the call may be stopped or killed at any point and repeated. An index
    /// finds the conflicts in bounded memory.
    ///
    /// - Parameters:
    ///   - policy: The rule; one that waits needs ``settleAll(asking:atOnce:progress:)``.
    ///   - progress: Called with the progress, after each document.
    /// - Returns: How many were settled, left and failed.
    /// - Throws: ``DatabaseError`` if the database fails (`diskFull`, `inputOutput`, `corrupt`, `closed`), or an error
    ///   that `progress` throws to stop the call. What was settled until then stays settled.
    @discardableResult
    public func settleAll(
        using policy: ConflictPolicy, progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) throws -> SettlementReport {
        var report = SettlementReport()
        let total = try conflictCount(policy.kinds)
        for kind in policy.kindsInOrder {
            var last: DocumentID?
            while case let page = try conflictedDocumentIDs(kind, after: last, limit: Self.settlePage), !page.isEmpty {
                for id in page {
                    report.add(try Self.outcome(of: id) { try settle(id, using: policy) }, id)
                    try progress(MaintenanceProgress("conflicts", report.total, of: max(total, report.total)))
                }
                last = page.last
            }
        }
        return report
    }

    /// Settles all conflicts by a policy that may wait, several documents concurrently; otherwise like
    /// ``settleAll(using:progress:)``.
    ///
    /// - Parameters:
    ///   - policy: The rule.
    ///   - atOnce: How many documents are settled concurrently; 1 for a person who answers one question at a time.
    ///   - progress: Called with the progress, after each document.
    /// - Returns: How many were settled, left and failed.
    /// - Throws: As ``settleAll(using:progress:)``, and `CancellationError`.
    @discardableResult
    public func settleAll(
        asking policy: ConflictPolicy, atOnce: Int = 4, progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) async throws -> SettlementReport {
        var report = SettlementReport()
        let total = try await perform { try $0.conflictCount(policy.kinds) }
        for kind in policy.kindsInOrder {
            var last: DocumentID?
            while true {
                let after = last
                let page = try await perform {
                    try $0.conflictedDocumentIDs(kind, after: after, limit: Self.settlePage)
                }
                guard let newest = page.last else { break }
                last = newest
                try await settle(page, policy, atOnce: max(1, atOnce)) { id, outcome in
                    report.add(outcome, id)
                    try progress(MaintenanceProgress("conflicts", report.total, of: max(total, report.total)))
                }
            }
        }
        return report
    }

    private static let settlePage = 500

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

    private static func outcome(
        of id: DocumentID, _ settle: () throws -> Settlement
    ) throws -> Result<Settlement, DatabaseError> {
        do { return .success(try settle()) } catch let error as DatabaseError where error.code.isOfOneDocument {
            return .failure(error)
        }
    }
}

extension ConflictPolicy {
    /// The kinds of conflict it decides, always in the same order.
    var kindsInOrder: [ConflictKind] { ConflictKind.allCases.filter(kinds.contains) }
}

extension SettlementReport {
    fileprivate mutating func add(_ outcome: Result<Settlement, DatabaseError>, _ id: DocumentID) {
        switch outcome {
        case .success(let settlement): add(settlement)
        case .failure(let error): add(error, id)
        }
    }
}
