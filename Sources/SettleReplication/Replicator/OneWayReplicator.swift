internal import SettleDatabase
internal import SettlePlatform

/// Replicates the documents of one database to another, one-shot or continuously.
///
///     let hub = LocalPeer(hubDatabase)
///     let result = try await OneWayReplicator(.push(notes, to: hub)).run()
///     print(result.counts.revisionsWritten)
///
///     let replicator = OneWayReplicator(configuration)            // isContinuous = true
///     replicator.start()
///     for await status in replicator.statuses { show(status.mode, status.completed, status.total) }
///     await replicator.stop()
///
/// A running replicator lives until it ends or is stopped, even without a reference (SEMANTICS 103).
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
public final class OneWayReplicator: Sendable {
    private struct State {
        var configuration: ReplicationConfiguration
        var orders: ReplicationOrders?
        var task: Task<Result<ReplicationResult, PeerError>, Never>?
        var run = 0
        /// Whether the streams of statuses end with the run.
        var endsStatuses = false
        /// Whether it was started again while it was being stopped.
        var startsAgain = false
        /// Whether the next run deletes the checkpoints.
        var isFromStart = false
        var notedPolicy: (policy: ConflictPolicy, database: Database)?
    }

    private let state: Guarded<State>
    private let shown = ReplicatorState()
    /// Whether its last run completed.
    let isCompleted = Guarded(false)
    /// Called when it starts and when it has ended.
    let onRunning = Guarded<(@Sendable (OneWayReplicator, Bool) -> Void)?>(nil)

    /// Creates a replicator, which does nothing until it is started.
    ///
    /// - Parameter configuration: The configuration. If another policy already settles conflicts of the database, a
    ///   warning is reported (SEMANTICS 42).
    public init(_ configuration: ReplicationConfiguration) {
        state = Guarded(State(configuration: configuration))
        registerPolicy()
    }

    deinit { forgetPolicy() }

    /// The configuration. Setting it during a run takes effect with the next start (SEMANTICS 45, 95).
    public var configuration: ReplicationConfiguration {
        get { state.withLock(\.configuration) }
        set {
            state.withLock { $0.configuration = newValue }
            if status.mode == .stopped {
                forgetPolicy()
                registerPolicy()
            }
        }
    }

    /// Whether it was started and has not ended.
    var isRunning: Bool { state.withLock { $0.task != nil } }

    /// The current status.
    public var status: ReplicationStatus { shown.currentStatus }

    /// The current status and then each change. A slow reader misses intermediate statuses and always gets the newest.
    ///
    /// The stream ends with the status `stopped` after ``stop()``, or when the replicator is released. It continues when a one-shot
    /// replication ends, a run fails, or ``suspend()`` is called.
    public var statuses: AsyncStream<ReplicationStatus> { shown.statuses }

    /// Events from now on. For a slow reader the newest 1000 are buffered, and older ones are lost; ``ledger`` has all
    /// failures. The stream ends when the replicator is released.
    public var events: AsyncStream<ReplicationEvent> { shown.events.listen() }

    /// The documents that could not be replicated or settled so far.
    public var ledger: ReplicationLedger { shown.currentLedger }

    /// Starts it, unless it runs. If it is being stopped, it starts as soon as it has stopped. Conflicts that could not
    /// be settled before are retried (SEMANTICS 31).
    public func start() {
        let isStopping = state.withLock { state in
            guard state.orders?.isStopping == true else { return false }
            state.startsAgain = true
            return true
        }
        if !isStopping { _ = begin() }
    }

    /// Starts it, unless it runs, and waits for the end of a one-shot replication, or for ``stop()``. If it is being
    /// stopped, it only waits for that. If the task is cancelled, the replication is stopped.
    ///
    /// - Returns: The result. Refused documents don't fail the replication; they are counted and listed.
    /// - Throws: ``PeerError`` if it can't continue: a peer could not be reached in several attempts, credentials
    ///   were rejected, or a database does not exist.
    @discardableResult
    public func run() async throws -> ReplicationResult {
        let task = begin()
        return try await withTaskCancellationHandler {
            try await task.value.get()
        } onCancel: {
            state.withLock { state in
                state.endsStatuses = state.task != nil
                state.startsAgain = false
                return state.orders
            }?.give(.stop)
        }
    }

    /// Stops it: stores the fetched revisions, settles pending conflicts and, if the peers can be reached, writes a
    /// checkpoint before the mode becomes `stopped` (SEMANTICS 39). This may take as long as settling the conflicts.
    /// Then ``statuses`` end.
    public func stop() async {
        let isRunning = state.withLock { state in
            state.endsStatuses = state.task != nil
            state.startsAgain = false
            return state.task != nil
        }
        if isRunning { await halt() } else { shown.endStatuses() }
    }

    /// Stops it as ``stop()`` does, but lets ``statuses`` continue, because it is started again.
    func halt() async { await end(.stop) }

    /// Stops it immediately, for an app that moves to the background. Pending conflicts stay in the database and
    /// are settled after the next ``start()`` (SEMANTICS 41).
    public func suspend() async { await end(.suspend) }

    /// Gives an order to end, and waits for the end.
    private func end(_ order: ReplicationOrders.Order) async {
        let (orders, task) = state.withLock { state in
            state.startsAgain = false
            return (state.orders, state.task)
        }
        orders?.give(order)
        _ = await task?.value
    }

    /// Reports that the network has changed: waiting retries happen now (SEMANTICS 93).
    public func networkChanged() { state.withLock(\.orders)?.give(.network) }

    /// Deletes the checkpoints on both sides and compares all documents again, for example if a database was
    /// changed without them. Documents stay, and documents that the other side has are not sent again (K15).
    ///
    /// A running replication is stopped as by ``stop()`` and started again; otherwise this happens at the next
    /// start. If the run is interrupted, or can't reach both sides, the next one starts over too. The comparison takes
    /// one request per batch of the source's documents.
    public func resyncFromStart() async {
        let wasRunning = state.withLock { state in
            state.isFromStart = true
            return state.task != nil
        }
        guard wasRunning else { return }
        await halt()
        start()
    }

    private func begin() -> Task<Result<ReplicationResult, PeerError>, Never> {
        registerPolicy()
        let (task, isNew) = state.withLock { state in
            if let task = state.task { return (task, false) }
            return (makeRun(&state), true)
        }
        if isNew { onRunning.withLock(\.self)?(self, true) }
        return task
    }

    /// Begins the run that was ordered while the last one was being stopped, unless it was stopped again since.
    private func beginAgain() {
        guard state.withLock(\.startsAgain) else { return }
        registerPolicy()
        let isNew = state.withLock { state in
            guard state.startsAgain, state.task == nil else { return false }
            _ = makeRun(&state)
            return true
        }
        if isNew { onRunning.withLock(\.self)?(self, true) }
    }

    private func makeRun(_ state: inout State) -> Task<Result<ReplicationResult, PeerError>, Never> {
        let orders = ReplicationOrders()
        state.orders = orders
        state.run += 1
        (state.endsStatuses, state.startsAgain) = (false, false)
        shown.beginStatuses()
        let (configuration, run, isFromStart) = (state.configuration, state.run, state.isFromStart)
        state.isFromStart = false
        let task = Task {
            var replication = ReplicationRun(configuration, shown, orders, isFromStart: isFromStart)
            return await replication.run { self.ended(run, isFromStart: $0, $1) }
        }
        state.task = task
        return task
    }

    /// Ends a run. When the status is `stopped`, the replicator may be started again.
    private func ended(_ run: Int, isFromStart: Bool, _ show: (inout ReplicationStatus) -> Void) {
        state.withLock { state in
            // A run that reached only one side has not deleted the checkpoints.
            if isFromStart { state.isFromStart = true }
            let wasStopped = state.orders?.isStopping ?? true
            if state.run == run { (state.task, state.orders) = (nil, nil) }
            shown.show(show)
            if state.endsStatuses { shown.endStatuses() }
            state.endsStatuses = false
            isCompleted.withLock { $0 = !wasStopped && status.error == nil }
        }
        forgetPolicy()
        onRunning.withLock(\.self)?(self, false)
        beginAgain()
    }

    private func registerPolicy() {
        let noted = state.withLock { state -> (policy: ConflictPolicy, database: Database)? in
            guard state.notedPolicy == nil, state.configuration.settlesConflicts,
                let database = state.configuration.target.operations.database
            else { return nil }
            state.notedPolicy = (state.configuration.conflictPolicy, database)
            return state.notedPolicy
        }
        if let noted { noted.database.registerSettling(by: noted.policy) }
    }

    private func forgetPolicy() {
        let noted = state.withLock { state in
            defer { state.notedPolicy = nil }
            return state.notedPolicy
        }
        if let noted { noted.database.forgetSettling(by: noted.policy) }
    }
}

// MARK: - ReplicationOrders

/// Commands to a running replication.
final class ReplicationOrders: Sendable {
    /// The commands.
    enum Order: Sendable {
        /// End after the fetched revisions are stored and conflicts are settled.
        case stop
        /// End immediately; conflicts wait for the next start (SEMANTICS 41).
        case suspend
        /// The network has changed: retry now.
        case network
    }

    private struct State {
        var waiting: [Order] = []
        var isStopping = false
    }

    private let state = Guarded(State())
    private let bell = Bell()

    /// Whether the replication has to end.
    var isStopping: Bool { state.withLock(\.isStopping) }

    /// Sends a command.
    func give(_ order: Order) {
        state.withLock { state in
            if order != .network { state.isStopping = true }
            state.waiting.append(order)
        }
        bell.ring()
    }

    /// The next command; `nil` if the task is cancelled.
    func next() async -> Order? {
        while !Task.isCancelled {
            let seen = bell.position
            let order = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
            if let order { return order }
            await bell.wait(after: seen)
        }
        return nil
    }
}
