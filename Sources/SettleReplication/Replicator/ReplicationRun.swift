internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// One run of a replicator: contacts the peers, finds the start position, runs the flow, and starts over if a peer
/// was replaced.
struct ReplicationRun: Sendable {
    let configuration: ReplicationConfiguration
    let state: ReplicatorState
    let orders: ReplicationOrders
    /// Whether the checkpoints have to be deleted first; `false` once that has happened.
    private var isFromStart: Bool
    private var counts = ReplicationCounts()
    private var result: ReplicationResult?

    init(
        _ configuration: ReplicationConfiguration, _ state: ReplicatorState, _ orders: ReplicationOrders,
        isFromStart: Bool = false
    ) {
        self.isFromStart = isFromStart
        self.configuration = configuration
        self.state = state
        self.orders = orders
    }

    /// The values that a flow needs at its start.
    private struct Beginning: Sendable {
        var checkpointer: Checkpointer
        var settings: FlowSettings
        var problem: String?
        var ledger: ReplicationLedger?
    }

    /// Runs to the end.
    ///
    /// - Parameter ended: Called at the end, with whether the checkpoints still have to be deleted, and the final
    ///   change of the status.
    /// - Returns: The result, or the reason why it can't continue.
    mutating func run(
        _ ended: (Bool, (inout ReplicationStatus) -> Void) -> Void
    ) async -> Result<ReplicationResult, PeerError> {
        let listener = listensToNetwork()
        defer { withExtendedLifetime(listener) {} }
        state.forgetWarnings()
        for peer in [configuration.source.operations, configuration.target.operations] {
            guard let warning = peer.warning else { continue }
            state.warn(.credentialsInTheOpen, warning)
            configuration.database?.warn(warning, in: .replication)
        }
        state.show { status in
            status = ReplicationStatus()
            status.mode = .active
        }
        log(.info, "a replication begins")
        let outcome = await runFlows()
        switch outcome {
        case .success: log(.info, "a replication has ended")
        case .failure(let error): log(.notice, "a replication has failed: \(error)")
        }
        ended(isFromStart) { status in
            (status.mode, status.completed, status.total) = (.stopped, 0, 0)
            (status.queuedConflicts, status.askedConflicts) = (0, 0)
            status.counts = counts
            if case .failure(let error) = outcome { status.error = error } else { status.error = nil }
        }
        return outcome
    }

    /// Writes an entry to the log, with the peers and the counts.
    private func log(_ level: SettleLog.Level, _ message: String) {
        guard let database = configuration.database else { return }
        var details = database.logMetadata
        details["source"] = configuration.source.name
        details["target"] = configuration.target.name
        details["revisions"] = "\(counts.revisionsWritten)"
        database.log(level, .replication, message, details)
    }

    /// Listens to network changes, if they matter.
    private func listensToNetwork() -> NetworkMonitor.Listener? {
        guard configuration.watchesNetwork,
            configuration.source.operations.needsNetwork || configuration.target.operations.needsNetwork
        else { return nil }
        let orders = orders
        return configuration.network.listen { orders.give(.network) }
    }

    private mutating func runFlows() async -> Result<ReplicationResult, PeerError> {
        var (failures, restarts) = (0, 0)
        while true {
            switch await beginning() {
            case nil: return .success(finished())
            case .failure(let error):
                failures += 1
                guard error.isTransient, configuration.isContinuous || failures < configuration.retry.attempts else {
                    return .failure(error)
                }
                state.show { ($0.mode, $0.error, $0.completed, $0.total) = (.offline, error, 0, 0) }
                await pause(
                    configuration.retry.delay(
                        after: failures, jitter: .random(in: 0...1), retryAfter: error.retryAfter))
            case .success(let beginning):
                failures = 0
                isFromStart = false
                var executor = begin(beginning)
                let end = await executor.run()
                counts = executor.flow.counts
                counts.uncountUnfinished()
                result?.end = executor.flow.tracker.position
                result?.log = executor.checkpointer.log.json
                if executor.checkpointer.hasWritten { result?.hasWritten = true }
                switch end {
                case .done: return .success(finished())
                case .failed(let error): return .failure(error)
                case .startOver:
                    // A source that repeatedly goes back in time must not be polled without delay.
                    restarts = executor.checkpointer.hasWritten ? 0 : restarts + 1
                    guard restarts > 2 else { continue }
                    guard configuration.isContinuous || restarts < configuration.retry.attempts else {
                        return .failure(Self.restless)
                    }
                    await pause(
                        configuration.retry.delay(after: restarts - 2, jitter: .random(in: 0...1), retryAfter: nil))
                }
            }
        }
    }

    private static var restless: PeerError {
        PeerError(
            .badAnswer,
            "the positions that the source or the logs report go back again and again; something is wrong there",
            isTransient: false)
    }

    private func finished() -> ReplicationResult {
        var result = result ?? ReplicationResult(replicationID: "")
        result.counts = counts
        result.ledger = state.currentLedger
        result.warnings = state.currentWarnings
        return result
    }

    private mutating func begin(_ beginning: Beginning) -> FlowExecutor {
        let id = beginning.checkpointer.id.description
        if result == nil {
            result = ReplicationResult(replicationID: id)
            result?.start = beginning.settings.start
        }
        if let ledger = beginning.ledger { state.adopt(ledger) }
        if let problem = beginning.problem {
            counts.resyncs += 1
            let from =
                beginning.settings.start.isStart ? "from the first change on" : "from \(beginning.settings.start) on"
            let message = "\(problem); documents are compared again \(from), nothing is lost"
            state.warn(.resync, message)
            configuration.database?.warn("replication \(id): \(message)", in: .replication)
        }
        return FlowExecutor(
            configuration: configuration, state: state, orders: orders,
            flow: Flow(beginning.settings, counts: counts), checkpointer: beginning.checkpointer)
    }

    /// Contacts both peers and finds the start position; `nil` if the run has to end. A change of the network begins
    /// this anew, because a request on the former network may wait for an answer that can't come.
    private func beginning() async -> Result<Beginning, PeerError>? {
        while !orders.isStopping, !Task.isCancelled {
            if let closed = localPeers.first(where: { $0.database?.isClosed == true }) {
                return .failure(closed.wasClosed)
            }
            let isAsked = Guarded(false)
            let beginning = await withTaskGroup(of: Result<Beginning, PeerError>?.self) { group in
                group.addTask { await PeerError.result { try await prepare() } }
                group.addTask {
                    let order = await orders.next()
                    isAsked.withLock { $0 = order != nil }
                    return nil
                }
                for peer in localPeers {
                    group.addTask {
                        await peer.database?.waitForClose()
                        return nil
                    }
                }
                defer { group.cancelAll() }
                return await group.next() ?? nil
            }
            guard let beginning, !orders.isStopping else { continue }
            // The order may have come at the moment of the failure.
            if case .failure = beginning, isAsked.withLock(\.self) { continue }
            return beginning
        }
        return nil
    }

    private func prepare() async throws -> Beginning {
        let (source, target) = (configuration.source.operations, configuration.target.operations)
        try configuration.filter.check()
        async let sourceConnection = connect(to: source, creates: configuration.createsSource)
        async let targetConnection = connect(to: target, creates: configuration.createsTarget)
        let (sourceInfo, targetInfo) = try await (sourceConnection, targetConnection)
        if let time = sourceInfo.serverTime ?? targetInfo.serverTime { configuration.database?.observeServerTime(time) }
        let identities = (source: try await source.identity(), target: try await target.identity())
        if identities.source == identities.target {
            throw PeerError(.badRequest, "\(source.name) can't be replicated with itself", status: 400)
        }
        let id = try await configuration.logID()
        var settings = FlowSettings(start: .start, end: sourceInfo.lastSequence)
        settings.isTargetEmpty = targetInfo.isEmpty
        settings.isContinuous = configuration.isContinuous
        settings.filter = configuration.filter
        settings.hasOnlyWinners = configuration.replicatesOnlyWinners
        settings.limits = configuration.limits
        settings.retry = configuration.retry
        settings.holdsRefused = configuration.direction == .push
        var beginning = Beginning(
            checkpointer: Checkpointer(id: id, start: .now()), settings: settings)
        let checkpoints = CheckpointExecutor(source: source, target: target)
        if isFromStart,
            case .failed(let error) = await checkpoints.run(.forget, &beginning.checkpointer)
        {
            throw error
        }
        if configuration.usesCheckpoints {
            switch await checkpoints.run(.resume(source: sourceInfo, target: targetInfo), &beginning.checkpointer) {
            case .resumed(let point): (beginning.settings.start, beginning.problem) = (point.position, point.problem)
            case .failed(let error): throw error
            case .forgotten, .written, .changed: break
            }
        }
        if let since = configuration.since, result == nil || beginning.settings.start.isStart {
            beginning.settings.start = since
            beginning.problem = nil
            if let wanted = since.number, let last = sourceInfo.lastSequence.number, last < wanted {
                beginning.settings.start = .start
                beginning.problem =
                    "it was to begin after \(since), but the source's newest change is \(last): it is another database"
            }
        }
        if result == nil, let database = configuration.database {
            beginning.ledger = try await LocalPeer(database).localDocument(id.ledgerID).map {
                ReplicationLedger($0.body)
            }
        }
        return beginning
    }

    /// Connects to a peer, and creates its database if that is missing and wanted.
    private func connect(to peer: any PeerOperations, creates: Bool) async throws -> PeerInfo {
        do { return try await peer.connect() } catch let error as PeerError where creates && error.code == .notFound {
            try await peer.create()
            return try await peer.connect()
        }
    }

    /// The peers that are databases of this process.
    private var localPeers: [any PeerOperations] {
        [configuration.source.operations, configuration.target.operations].filter { $0.database != nil }
    }

    /// Waits until a retry is due, or until an event makes one worthwhile, or ends the run.
    private func pause(_ delay: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await configuration.clock.sleep(for: delay.bounded) }
            group.addTask { _ = await orders.next() }
            for peer in localPeers { group.addTask { await peer.database?.waitForClose() } }
            if orders.isStopping { group.cancelAll() }
            await group.next()
            group.cancelAll()
        }
    }
}

extension PeerOperations {
    /// The error of a replication whose database in this process was closed.
    var wasClosed: PeerError { PeerError(DatabaseError(.closed, "the database was closed"), of: name) }
}

extension PeerError {
    /// Runs a call on a peer; returns its value or error.
    static func result<Success: Sendable>(
        _ body: () async throws -> Success
    ) async -> Result<Success, PeerError> {
        do { return .success(try await body()) } catch let error as PeerError { return .failure(error) } catch let error
            as DatabaseError
        { return .failure(PeerError(error, of: "the local database")) } catch is CancellationError {
            return .failure(PeerError(.cancelled, "the call was cancelled"))
        } catch { return .failure(PeerError(.serverError, "a peer failed", isTransient: false, cause: error)) }
    }
}
