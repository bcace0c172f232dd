internal import SettleDatabase
internal import SettlePlatform

/// Brings the documents of one database to another, once or for ever.
///
///     let hub = LocalPeer(hubDatabase)
///     let result = try await Replicator(.push(notes, to: hub)).run()
///     print(result.counts.revisionsWritten)
///
///     let replicator = Replicator(configuration)            // isContinuous = true
///     replicator.start()
///     for await status in replicator.statuses { show(status.mode, status.completed, status.total) }
///     await replicator.stop()
///
/// One that runs lives until it ends or is stopped, whether a reference is kept or not (SEMANTICS 103).
///
/// ## Topics
/// ### Running
/// - ``start()``
/// - ``stop()``
/// - ``run()``
/// - ``suspend()``
/// - ``resyncFromStart()``
/// - ``networkChanged()``
/// ### Looking
/// - ``status``
/// - ``statuses``
/// - ``events``
/// - ``ledger``
public final class Replicator: Sendable {
    private struct State {
        var configuration: ReplicationConfiguration
        var orders: ReplicationOrders?
        var task: Task<Result<ReplicationResult, PeerError>, Never>?
        var run = 0
        /// Whether the next run forgets the checkpoints.
        var isFromStart = false
        var notedPolicy: (policy: ConflictPolicy, database: Database)?
    }

    private let state: Guarded<State>
    private let shown = ReplicatorState()
    /// Whether its last run ended by itself, with all done.
    let isCompleted = Guarded(false)
    /// Called when it starts and when it has ended.
    let onRunning = Guarded<(@Sendable (Replicator, Bool) -> Void)?>(nil)

    /// Makes a replicator, which does nothing until it is started.
    ///
    /// - Parameter configuration: What it is to do. If conflicts of the database are settled by another policy already,
    ///   that is warned about (SEMANTICS 42).
    public init(_ configuration: ReplicationConfiguration) {
        state = Guarded(State(configuration: configuration))
        notePolicy()
    }

    deinit { forgetPolicy() }

    /// What it is to do. Setting it while it runs takes effect with the next start (SEMANTICS 45, 95).
    public var configuration: ReplicationConfiguration {
        get { state.withLock(\.configuration) }
        set {
            state.withLock { $0.configuration = newValue }
            if status.mode == .stopped {
                forgetPolicy()
                notePolicy()
            }
        }
    }

    /// How it is doing.
    public var status: ReplicationStatus { shown.currentStatus }

    /// How it is doing, from now on: first the present status, then each new one. Who reads slowly misses those between
    /// and always sees the newest. Without end, as long as the replicator lives.
    public var statuses: AsyncStream<ReplicationStatus> { shown.statuses.listen(first: status) }

    /// What happens from now on. For who reads slowly the newest 1000 events are kept, and older ones are lost;
    /// ``ledger`` has what went wrong in any case. Without end, as long as the replicator lives.
    public var events: AsyncStream<ReplicationEvent> { shown.events.listen() }

    /// What could not be brought, or not be settled, as of now.
    public var ledger: ReplicationLedger { shown.currentLedger }

    /// Starts it, unless it runs. Conflicts that could not be settled before are tried again (SEMANTICS 31).
    public func start() { _ = begin() }

    /// Starts it, unless it runs, and waits for its end: that of a one-shot replication, or of ``stop()``. When the task
    /// is cancelled, it is stopped.
    ///
    /// - Returns: What it has done. Documents that were refused are no failure; they are counted and listed.
    /// - Throws: ``PeerError`` when it can't go on: a peer was not reached in several attempts, credentials were not
    ///   accepted, a database does not exist.
    @discardableResult
    public func run() async throws -> ReplicationResult {
        let task = begin()
        return try await withTaskCancellationHandler {
            try await task.value.get()
        } onCancel: {
            state.withLock(\.orders)?.give(.stop)
        }
    }

    /// Stops it: what has been fetched is stored, pending conflicts are settled, a checkpoint is written, and then it is
    /// `stopped` (SEMANTICS 39). It may take as long as conflicts take.
    public func stop() async {
        let (orders, task) = state.withLock { ($0.orders, $0.task) }
        orders?.give(.stop)
        _ = await task?.value
    }

    /// Stops it at once, as an app does that goes into the background: conflicts that wait stay in the database and are
    /// settled after the next ``start()`` (SEMANTICS 41).
    public func suspend() async {
        let (orders, task) = state.withLock { ($0.orders, $0.task) }
        orders?.give(.suspend)
        _ = await task?.value
    }

    /// Says that the network changed: what waits for another attempt is tried now (SEMANTICS 93).
    public func networkChanged() { state.withLock(\.orders)?.give(.network) }

    /// Has it forget its checkpoints, on both sides, and compare all documents anew: for when a side is not what the
    /// checkpoints say it is. Documents stay, and what the other side has is not sent again (K15).
    ///
    /// One that runs is stopped as by ``stop()`` and started again; another one does it with its next start. Once the
    /// checkpoints are forgotten, a run that is cut off is taken up from the start, too. It takes a request for each batch of
    /// documents of the source.
    public func resyncFromStart() async {
        let wasRunning = state.withLock { state in
            state.isFromStart = true
            return state.task != nil
        }
        guard wasRunning else { return }
        await stop()
        start()
    }

    private func begin() -> Task<Result<ReplicationResult, PeerError>, Never> {
        notePolicy()
        let (task, isNew) = state.withLock { state in
            if let task = state.task { return (task, false) }
            let orders = ReplicationOrders()
            state.orders = orders
            state.run += 1
            let (configuration, run, isFromStart) = (state.configuration, state.run, state.isFromStart)
            state.isFromStart = false
            let task = Task {
                var replication = ReplicationRun(configuration, shown, orders, isFromStart: isFromStart)
                return await replication.run { self.ended(run, $0) }
            }
            state.task = task
            return (task, true)
        }
        if isNew { onRunning.withLock(\.self)?(self, true) }
        return task
    }

    /// It has ended: who sees it stopped may start it again.
    private func ended(_ run: Int, _ show: (inout ReplicationStatus) -> Void) {
        state.withLock { state in
            let wasStopped = state.orders?.isStopping ?? true
            if state.run == run { (state.task, state.orders) = (nil, nil) }
            shown.show(show)
            isCompleted.withLock { $0 = !wasStopped && status.error == nil }
        }
        forgetPolicy()
        onRunning.withLock(\.self)?(self, false)
    }

    private func notePolicy() {
        let noted = state.withLock { state -> (policy: ConflictPolicy, database: Database)? in
            guard state.notedPolicy == nil, state.configuration.settlesConflicts,
                let database = state.configuration.target.database
            else { return nil }
            state.notedPolicy = (state.configuration.conflictPolicy, database)
            return state.notedPolicy
        }
        if let noted { noted.database.noteSettling(by: noted.policy) }
    }

    private func forgetPolicy() {
        let noted = state.withLock { state in
            defer { state.notedPolicy = nil }
            return state.notedPolicy
        }
        if let noted { noted.database.forgetSettling(by: noted.policy) }
    }
}
