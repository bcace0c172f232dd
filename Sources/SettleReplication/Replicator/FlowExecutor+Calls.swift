internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Performs a flow's actions as child tasks.
extension FlowExecutor {
    /// The number of pending conflicts above which stores are deferred.
    private static let maximumConflicts = 10_000

    /// Performs actions.
    mutating func perform(_ actions: [FlowAction], _ group: inout TaskGroup<Event>) {
        let (source, target, clock) = (
            configuration.source.operations, configuration.target.operations, configuration.clock
        )
        for action in actions {
            switch action {
            case .read(let id, let request):
                let bell = flow.settings.isContinuous && source.needsNetwork ? networkBell : nil
                group.addTask {
                    .flow(.changes(id, await PeerError.result { try await Self.read(request, source, bell) }))
                }
            case .probe(let id):
                let away = [source, target].filter(\.needsNetwork)
                group.addTask {
                    .flow(.probed(id, await PeerError.result { for peer in away { _ = try await peer.connect() } }))
                }
            case .compare(let id, let changes):
                let areMissing = flow.settings.areMissing(changes)
                group.addTask {
                    .flow(.differences(id, await Self.compare(changes, source, target, areMissing: areMissing)))
                }
            case .fetch(let id, let requests, let budget):
                group.addTask {
                    let start = ContinuousClock.now
                    let answers = await PeerError.result { try await source.revisions(requests, budget: budget) }
                    return .flow(.revisions(id, answers, took: ContinuousClock.now - start))
                }
            case .store(let id, let revisions):
                if conflicts.count > Self.maximumConflicts {
                    deferred.append(action)
                } else {
                    store(id, revisions, &group)
                }
            case .wait(let id, let delay):
                group.addTask {
                    try? await clock.sleep(for: delay.bounded)
                    return .flow(.time(id))
                }
            case .report(let report): publish(report)
            case .present(let ids):
                guard !state.ledgerIsEmpty else { continue }
                state.updateLedger { ledger in for id in ids { ledger.clear(id, but: []) } }
            case .startOver: end = .startOver
            case .end(let error): end = error.map { .failed($0) } ?? .done
            }
        }
    }

    /// Performs the deferred stores.
    mutating func performDeferred(_ group: inout TaskGroup<Event>) {
        guard !deferred.isEmpty, conflicts.count < Self.maximumConflicts / 2 else { return }
        let actions = deferred
        deferred = []
        perform(actions, &group)
    }

    private mutating func store(_ id: Int, _ revisions: [PeerRevision], _ group: inout TaskGroup<Event>) {
        let (source, target, settler) = (configuration.source.operations, configuration.target.operations, settler)
        let (branching, asked) = (configuration.branching, AskedConflicts(state))
        let (former, superseded) = (FormerStates(of: source, at: target), SupersededLeaves(configuration))
        let log = configuration.database?.log ?? .none
        conflicts.beginStore(id, of: revisions.lazy.map(\.id))
        group.addTask {
            let result = await log.measure(.replication, ["revisions": "\(revisions.count)"]) {
                await PeerError.result {
                    var revisions = revisions
                    if let former { revisions = try await former.markReplaced(in: revisions) }
                    if let superseded { revisions = try await superseded.markReplaced(in: revisions) }
                    if let settler {
                        return try await settler.store(revisions, branching: branching) { asked.set($0) }
                    }
                    return (outcomes: try await target.store(revisions, branching: branching), settlements: [:])
                }
            }
            guard case .success((let all, let settlements)) = result else {
                return .stored(id, result.map(\.outcomes), conflicted: nil, [:], asked: asked.count)
            }
            if source.database != nil {
                let held = zip(revisions, all).filter { $0.1.isAtTarget }.map { ($0.0.id, $0.0.revision) }
                try? await source.markShared(held)
            }
            let conflicted = settler == nil ? [] : await settler?.conflicted(among: revisions)
            return .stored(id, .success(all), conflicted: conflicted, settlements, asked: asked.count)
        }
    }

    /// Reads changes. A change of the network ends the request, because the connection may be dead: a wait for new
    /// changes ends without any, and another request is made again.
    private static func read(
        _ request: ChangesRequest, _ source: any PeerOperations, _ network: Bell?
    ) async throws -> ChangesPage {
        guard let network else { return try await source.changes(request) }
        while true {
            // It is read before the request, so that a change of the network during the request is noticed.
            let position = network.position
            let call = Task { try await source.changes(request) }
            let number = network.whenRung(after: position) { _ in call.cancel() }
            let result = await withTaskCancellationHandler {
                await call.result
            } onCancel: {
                call.cancel()
            }
            let hasRung = !network.cancel(number)
            guard case .failure = result, hasRung, !Task.isCancelled else { return try result.get() }
            // Nothing is lost: the changes are read again.
            if request.wait != nil { return ChangesPage(changes: [], last: request.since) }
        }
    }

    private static func compare(
        _ changes: [ChangedDocument], _ source: any PeerOperations, _ target: any PeerOperations, areMissing: Bool
    ) async -> Result<[RevisionsDiff], PeerError> {
        await PeerError.result {
            // Storing a revision that is there after all changes nothing (SEMANTICS 200).
            var missing =
                areMissing
                ? changes.map { RevisionsDiff(id: $0.id, missing: $0.leaves, possibleAncestors: []) }
                : try await target.differences(from: changes)
            if missing.count < changes.count, let former = FormerStates(of: source, at: target) {
                let lacking = Set(missing.map(\.id))
                if try await former.reopen(changes.filter({ !lacking.contains($0.id) })) {
                    missing = try await target.differences(from: changes)
                }
            }
            await source.reportMissing(missing, of: changes)
            guard source.database != nil else { return missing }
            // The source may treat the revisions that the target has as shared.
            var (next, present) = (0, [(id: DocumentID, revision: RevisionID)]())
            for change in changes {
                let isMissing = next < missing.count && missing[next].id == change.id
                let lacking = isMissing ? missing[next].missing : []
                if isMissing { next += 1 }
                for leaf in change.leaves where !lacking.contains(leaf) { present.append((change.id, leaf)) }
            }
            if !present.isEmpty { try? await source.markShared(present) }
            return missing
        }
    }

    /// Reports the outcome of a document. If the document is in conflict, it is reported after the conflict is
    /// settled (SEMANTICS 33).
    private mutating func publish(_ report: DocumentReport) {
        recordInLedger(report)
        if report.left != nil { return send(report, .left) }
        // Nothing was replicated if the target has the winner.
        if report.revisions.isEmpty { return }
        if report.problems.isEmpty, conflicts.contains(report.id) { return conflicts.keep(report) }
        let outcome = report.problems.first.map { DocumentReplication.Outcome.failed($0.error) } ?? .replicated
        send(report, outcome)
    }

    /// Sends the event of a document, if there are listeners.
    func send(_ report: DocumentReport, _ outcome: DocumentReplication.Outcome) {
        guard state.events.hasListeners else { return }
        state.events.send(
            .document(
                DocumentReplication(
                    direction: configuration.direction, documentID: report.id, revisions: report.revisions,
                    isDeleted: report.isDeleted, outcome: outcome)))
    }

    private func recordInLedger(_ report: DocumentReport) {
        let isNoNews = state.ledgerIsEmpty && report.problems.isEmpty && report.left == nil && report.losers.isEmpty
        guard !isNoNews else { return }
        state.updateLedger { ledger in
            ledger.clear(report.id, but: report.problems.map(\.revision) + report.losers)
            if let left = report.left {
                let reason = report.isDeleted ? "was deleted without what" : "was changed and is not what"
                ledger.record(
                    report.id, left, .left,
                    reason: "it \(reason) the filter asks for, so the target keeps the state it has", status: nil)
            }
            for loser in report.losers {
                ledger.record(
                    report.id, loser, .losing,
                    reason: "it is not the winner at the source, and only winners are replicated", status: nil)
            }
            for problem in report.problems {
                ledger.record(
                    report.id, problem.revision, problem.kind.entryKind, reason: problem.error.message,
                    status: problem.error.status)
            }
        }
    }
}

/// Counts, in the status, the documents of one batch for which the policy is called.
private final class AskedConflicts: Sendable {
    private let state: ReplicatorState
    private let counted = Guarded(0)

    init(_ state: ReplicatorState) { self.state = state }

    /// The number of counted documents.
    var count: Int { counted.withLock(\.self) }

    /// Changes the number of counted documents.
    func set(_ count: Int) {
        let more = counted.withLock { counted in
            defer { counted = count }
            return count - counted
        }
        state.show { $0.askedConflicts += more }
    }
}

extension StoreOutcome {
    /// Whether the target has the revision.
    fileprivate var isAtTarget: Bool {
        switch self {
        case .stored, .known: true
        case .refused, .failed: false
        }
    }
}

extension DocumentReport.Problem.Kind {
    /// The kind of the ledger's entry.
    fileprivate var entryKind: LedgerEntry.Kind {
        switch self {
        case .refused: .refused
        case .failed: .failed
        case .gone: .gone
        }
    }
}
