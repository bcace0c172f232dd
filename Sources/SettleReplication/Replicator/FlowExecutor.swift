internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Performs a flow's actions in child tasks, and passes the results to the flow as events, one at a time.
///
///     Flow ──actions──▶ child tasks ──events──▶ Flow
///                        calls on peers, delays, checkpoints, conflicts, orders from outside
struct FlowExecutor {
    /// The way a run has ended.
    enum End: Sendable {
        /// Everything is done, or the replication was stopped.
        case done
        /// The replication can't continue.
        case failed(PeerError)
        /// A peer was replaced, so the replication starts over.
        case startOver
    }

    /// The result of a child task.
    enum Event: Sendable {
        case flow(FlowEvent)
        /// The outcomes of a store, and the conflicts that it has settled or tried to.
        case stored(
            Int, Result<[StoreOutcome], PeerError>, conflicted: [DocumentID]?,
            [DocumentID: Result<Settlement, DatabaseError>], asked: Int)
        case closed(PeerError)
        case order(ReplicationOrders.Order?)
        case checkpointTime
        case checkpointed(Checkpointer, Checkpointer.Outcome)
        case swept([DocumentID], next: ConflictSweep?)
        case sweepFailed(DatabaseError)
        case settled(DocumentID, Result<Settlement?, DatabaseError>)
    }

    let configuration: ReplicationConfiguration
    let state: ReplicatorState
    let orders: ReplicationOrders
    var flow: Flow
    var checkpointer: Checkpointer
    /// Settles conflicts; `nil` without a policy.
    let settler: ConflictSettler?
    var conflicts: ConflictQueue
    /// The outcome of conflicts that were settled when they were stored, until it is reported.
    var decided: [DocumentID: Result<Settlement, DatabaseError>] = [:]
    /// The number of documents for which the policy was called, that are stored, and that are still counted as
    /// waiting.
    var answered = 0
    /// Stores that wait until fewer conflicts are pending.
    var deferred: [FlowAction] = []
    /// Rings when the network changes, for calls that only wait for changes.
    let networkBell = Bell()
    var isCheckpointing = false
    var isTimerSet = false
    var end: End?

    init(
        configuration: ReplicationConfiguration, state: ReplicatorState, orders: ReplicationOrders, flow: Flow,
        checkpointer: Checkpointer
    ) {
        self.configuration = configuration
        self.state = state
        self.orders = orders
        self.flow = flow
        self.checkpointer = checkpointer
        settler = ConflictSettler(configuration) { orders.isStopping }
        conflicts = ConflictQueue(atOnce: configuration.conflictsAtOnce)
    }

    /// Runs the flow to its end, and writes the last checkpoint.
    mutating func run() async -> End {
        await withTaskGroup(of: Event.self) { group in
            begin(&group)
            while !isDone, let event = await group.next() { receive(event, &group) }
            group.cancelAll()
            // Running calls end. A checkpoint that was just written must be recorded.
            for await event in group {
                if case .checkpointed(let checkpointer, _) = event { self.checkpointer = checkpointer }
            }
        }
        state.show { $0.askedConflicts = 0 }
        let end = end ?? .done
        switch end {
        case .startOver: return end
        // A peer that could not be reached would not accept a checkpoint either, and asking it may take long.
        case .failed(let error) where error.isTransient: await keepLedger()
        case .done where flow.unreachable != nil: await keepLedger()
        case .done, .failed: await writeLastCheckpoint()
        }
        return end
    }

    /// Whether the run has ended: after a success, conflicts are settled first (SEMANTICS 39).
    private var isDone: Bool {
        switch end {
        case nil: false
        case .done: conflicts.isEmpty
        case .failed, .startOver: true
        }
    }

    private mutating func begin(_ group: inout TaskGroup<Event>) {
        let orders = orders
        group.addTask { .order(await orders.next()) }
        for peer in [configuration.source.operations, configuration.target.operations] {
            guard let database = peer.database else { continue }
            group.addTask {
                await database.waitForClose()
                return .closed(peer.wasClosed)
            }
        }
        if let settler {
            conflicts.beginSweep()
            group.addTask { await settler.find(settler.sweep) }
        }
        perform(flow.handle(.begin, jitter: 0), &group)
        if orders.isStopping { handle(.stop, &group) }
        show()
    }

    private mutating func receive(_ event: Event, _ group: inout TaskGroup<Event>) {
        switch event {
        case .flow(let event): handle(event, &group)
        case .closed(let error): end = .failed(error)
        case .stored(let number, let outcomes, let conflicted, let settlements, let asked):
            answered += asked
            for (id, settlement) in settlements { decided[id] = settlement }
            conflicts.endStore(number, conflicted: conflicted)
            for id in settlements.keys.sorted() { conflicts.add(id) }
            handle(.outcomes(number, outcomes), &group)
        case .order(let order): receive(order, &group)
        case .checkpointTime:
            isTimerSet = false
            checkpoint(&group)
        case .checkpointed(let checkpointer, let outcome):
            self.checkpointer = checkpointer
            isCheckpointing = false
            receive(outcome)
        case .swept(let ids, let next): receive(ids, next: next, &group)
        case .sweepFailed(let error): endSweep(error)
        case .settled(let id, let result): settled(id, result, &group)
        }
        settleNext(&group)
        if !isTimerSet, !isCheckpointing, end == nil, hasNews {
            isTimerSet = true
            let (clock, interval) = (configuration.clock, configuration.checkpointInterval)
            group.addTask {
                try? await clock.sleep(for: interval.bounded)
                return .checkpointTime
            }
        }
        show()
    }

    private mutating func receive(_ order: ReplicationOrders.Order?, _ group: inout TaskGroup<Event>) {
        guard let order else { return }
        let orders = orders
        group.addTask { .order(await orders.next()) }
        switch order {
        case .network:
            networkBell.ring()
            handle(.network, &group)
        case .stop: handle(.stop, &group)
        case .suspend:
            conflicts.clear()
            conflicts = ConflictQueue(atOnce: configuration.conflictsAtOnce)
            end = .done
        }
    }

    /// Passes an event to the flow, and performs the resulting actions.
    mutating func handle(_ event: FlowEvent, _ group: inout TaskGroup<Event>) {
        perform(flow.handle(event, jitter: .random(in: 0...1)), &group)
    }

    /// Publishes the status.
    private mutating func show() {
        let isIdle = flow.isIdle && conflicts.isEmpty
        let progress = flow.progress
        if isIdle, progress.total > 0 {
            // Show that everything is done before the counters are reset (SEMANTICS 107).
            show(.active, (progress.total, progress.total))
            flow.restartProgress()
        }
        if flow.unreachable != nil {
            show(.offline, (0, 0))
        } else {
            show(isIdle ? .idle : .active, isIdle ? (0, 0) : progress)
        }
    }

    private mutating func show(_ mode: ReplicationStatus.Mode, _ progress: (completed: Int, total: Int)) {
        let (flow, count, checkpointed, answered) = (flow, conflicts.count, checkpointer.recorded, answered)
        self.answered = 0
        state.show { status in
            status.mode = mode
            (status.completed, status.total) = (progress.completed, max(progress.completed, progress.total))
            status.bytesWritten = flow.counts.bytesWritten
            status.counts = flow.counts
            status.queuedConflicts = count
            status.askedConflicts -= answered
            (status.position, status.checkpointed) = (flow.tracker.position, checkpointed)
            status.error = flow.unreachable
        }
    }
}

// MARK: - Checkpoints

/// Checkpoints of a flow.
extension FlowExecutor {
    /// Whether the newest checkpoint is out of date. A source without any change is still at the start, in whatever
    /// form it writes that.
    var hasNews: Bool {
        let position = flow.tracker.position
        guard configuration.usesCheckpoints, position != checkpointer.recorded else { return false }
        return !(checkpointer.recorded.isStart && position.number == 0)
    }

    /// Writes a checkpoint if the newest one is out of date. Before that the ledger is stored, with the documents
    /// that could not be replicated.
    mutating func checkpoint(_ group: inout TaskGroup<Event>) {
        let position = flow.tracker.position
        guard hasNews, !isCheckpointing else { return }
        isCheckpointing = true
        let (checkpointer, checkpoints, write, keep) = (checkpointer, checkpoints, writing(position), keepLedger)
        group.addTask {
            await keep()
            var checkpointer = checkpointer
            let outcome = await checkpoints.run(write(), &checkpointer)
            return .checkpointed(checkpointer, outcome)
        }
    }

    /// Handles the outcome of a checkpoint.
    mutating func receive(_ outcome: Checkpointer.Outcome) {
        switch outcome {
        case .written(let side?):
            let other: Checkpointer.Side = side == .source ? .target : .source
            guard !state.currentWarnings.contains(where: { $0.kind == .checkpointOnOneSide }) else { return }
            state.warn(
                .checkpointOnOneSide,
                "the \(other.rawValue) does not allow a log, so the checkpoint is on the \(side.rawValue) alone")
        case .written, .resumed, .forgotten: break
        case .changed: end = .startOver
        case .failed(let error):
            guard error.code != .cancelled else { return }
            state.warn(.checkpointNotWritten, "the checkpoint was not written: \(error)")
        }
    }

    /// Writes the last checkpoint.
    mutating func writeLastCheckpoint() async {
        await keepLedger()
        let position = flow.tracker.position
        guard hasNews else { return }
        let outcome = await checkpoints.run(writing(position)(), &checkpointer)
        if case .changed = outcome {
            state.warn(
                .checkpointNotWritten, "a log was changed by somebody else, so the last checkpoint was not written")
        } else {
            receive(outcome)
        }
    }

    /// The executor that reads and writes the logs on both peers.
    private var checkpoints: CheckpointExecutor {
        CheckpointExecutor(
            source: configuration.source.operations, target: configuration.target.operations)
    }

    /// Returns a closure that creates the event for a checkpoint at a position, with a new name and the current
    /// time.
    private func writing(_ position: PeerSequence) -> @Sendable () -> Checkpointer.Event {
        let counts = flow.counts
        return { .write(position, counts, name: SecureRandom.hexadecimal(), time: .now()) }
    }

    /// Stores the ledger in the local database. If that fails, the next call tries again.
    var keepLedger: @Sendable () async -> Void {
        let (state, id, database) = (state, checkpointer.id.ledgerID, configuration.database)
        return {
            guard let database, let ledger = state.ledgerToKeep else { return }
            let stored = try? await database.perform { database in
                try database.saveLocalDocument(id, body: DocumentBody(ledger.json)).revision
            }
            if stored != nil { state.recordKept(ledger) }
        }
    }
}
