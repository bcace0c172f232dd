internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Runs replications, a limited number at the same time, and retries failed ones. It performs the actions that a
/// ``ReplicationSchedule`` decides.
package final class ReplicationScheduler: Sendable {
    private struct State: Sendable {
        var schedule: ReplicationSchedule
        var jobs: [String: ReplicationJob] = [:] {
            // Most changes don't add or remove a job.
            didSet { if jobs.count != ids?.count { ids = nil } }
        }
        /// The sorted ids of the jobs; `nil` after a job was added or removed.
        var ids: [String]?
        var runs: [Int: (job: String, task: Task<Void, Never>, replicator: OneWayReplicator?)] = [:]
        var counts = Counts()
        var observers: [@Sendable (ReplicationNotice) -> Void] = []
        /// The closures that wait for the end of a removed job's run.
        var endings: [Int: [@Sendable () -> Void]] = [:]
        /// The closures to call after the lock is released.
        var effects: [@Sendable () -> Void] = []
    }

    /// The maximum number of replications that run at the same time.
    let room: Int
    private let state: Monitor<State>
    private let turn: Duration
    private let retry: ReplicationRetryPolicy
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - room: The maximum number of replications that run at the same time.
    ///   - turn: The time after which a continuous replication makes room for waiting ones.
    ///   - retry: The delays before failed ones run again.
    package init(room: Int, turn: Duration, retry: ReplicationRetryPolicy) {
        (self.room, self.turn, self.retry) = (room, turn, retry)
        state = Monitor(State(schedule: ReplicationSchedule(room: room, turn: turn)))
    }

    /// Calls a closure with each notice from now on.
    package func observe(_ observer: @escaping @Sendable (ReplicationNotice) -> Void) {
        state.withLock { $0.observers.append(observer) }
    }

    /// Adds a job. If a job has the same id, only adds the waiter to it.
    ///
    /// - Returns: The job that has the id already, if any.
    @discardableResult
    package func add(_ job: ReplicationJob, waiter: ReplicationJob.Waiter? = nil) -> ReplicationJob? {
        change { state -> ReplicationJob? in
            guard !state.schedule.isStopped else {
                state.effects.append { waiter?(.failure(Self.stopping)) }
                return nil
            }
            let other = state.jobs[job.id]
            var added = other ?? job
            if let waiter { added.waiters.append(waiter) }
            state.jobs[job.id] = added
            handle(.added(job.id, isContinuous: job.document.isContinuous, isRetried: job.isRetried), &state)
            return other
        }
    }

    /// Stops and removes a job if it satisfies a condition, and returns it.
    @discardableResult
    package func remove(
        _ id: String, where condition: (ReplicationJob) -> Bool = { _ in true }
    ) -> ReplicationJob? {
        change { state in remove(id, where: condition, &state) }
    }

    /// Stops a job and removes it, as ``remove(_:where:)`` does.
    ///
    /// - Parameters:
    ///   - id: The job's id.
    ///   - atOnce: Whether its run ends without storing what it has fetched, even if it is already stopping.
    ///   - condition: The condition that the job of this id must satisfy.
    ///   - ended: Called when no run of a removed job of this id is in progress.
    /// - Returns: The removed job.
    @discardableResult
    func end(
        _ id: String, atOnce: Bool, where condition: (ReplicationJob) -> Bool, ended: @escaping @Sendable () -> Void
    ) -> ReplicationJob? {
        change { state in
            let removed = remove(id, where: condition, &state)
            if atOnce { handle(.hurried(id), &state) }
            if let run = state.schedule.leaving[id] {
                state.endings[run, default: []].append(ended)
            } else {
                state.effects.append(ended)
            }
            return removed
        }
    }

    private func remove(
        _ id: String, where condition: (ReplicationJob) -> Bool, _ state: inout State
    ) -> ReplicationJob? {
        guard let job = state.jobs[id], condition(job) else { return nil }
        state.jobs[id] = nil
        handle(.removed(id), &state)
        answer(job, .failure(Self.cancelled), &state)
        notify(.removed(id), &state)
        return job
    }

    /// Stops all jobs and accepts no more; waits for their ends, up to a number of seconds.
    ///
    /// - Returns: Whether all have ended.
    @discardableResult
    package func stop(seconds: Double) -> Bool {
        change { state in
            handle(.stopping, &state)
            for job in state.jobs.values { answer(job, .failure(Self.stopping), &state) }
        }
        return state.wait(seconds: seconds) { $0.schedule.runningCount == 0 ? true : nil } ?? false
    }

    private static let cancelled = PeerError(.cancelled, "the replication was cancelled")
    private static let stopping = PeerError(.busy, "the server is being stopped", status: 503)

    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        let (value, effects) = state.update { state in
            let value = body(&state)
            defer { state.effects = [] }
            return (value, state.effects)
        }
        for effect in effects { effect() }
        return value
    }
}

/// Performs the schedule's actions.
extension ReplicationScheduler {
    private func handle(
        _ event: ReplicationSchedule.Event, _ state: inout State,
        _ result: Result<ReplicationResult, PeerError> = .failure(cancelled)
    ) {
        for action in state.schedule.handle(event, at: start.duration(to: .now)) { perform(action, result, &state) }
    }

    private func perform(
        _ action: ReplicationSchedule.Action, _ result: Result<ReplicationResult, PeerError>, _ state: inout State
    ) {
        switch action {
        case .start(let id, let run):
            guard var job = state.jobs[id] else { return }
            job.run = run
            job.addEvent("started")
            state.jobs[id] = job
            state.counts.started += 1
            state.runs[run] = (id, Task { [self, job] in await perform(job, run) }, nil)
            notify(.started(job), &state)
        case .stop(let run):
            guard let task = state.runs[run]?.task else { return }
            state.effects.append { task.cancel() }
        case .suspend(let run):
            guard let (_, task, replicator) = state.runs[run] else { return }
            state.effects.append {
                Task {
                    await replicator?.suspend()
                    task.cancel()
                }
            }
        case .yielded(let id):
            state.jobs[id]?.failures = 0
            state.jobs[id]?.failure = nil
            state.jobs[id]?.addEvent("stopped")
        case .retry(let id, let run, let failures):
            state.jobs[id]?.failures = failures
            recordFailure(id, result, &state)
            let retryAfter: Duration? = if case .failure(let error) = result { error.retryAfter } else { nil }
            let delay = retry.delay(after: failures, jitter: .random(in: 0...0.5), retryAfter: retryAfter)
            later(delay) { $0.handle(.retryDue(id, run: run), &$1) }
        case .forget(let id):
            if case .success(let value) = result, let job = state.jobs[id] {
                state.counts.completed += 1
                notify(.completed(job, value), &state)
            } else {
                recordFailure(id, result, &state)
            }
            guard let job = state.jobs.removeValue(forKey: id) else { return }
            answer(job, result, &state)
            notify(.removed(id), &state)
        case .ring:
            later(turn) { scheduler, state in
                let progress = state.runs.compactMapValues { $0.replicator?.status.progress }
                scheduler.handle(.turn(progress), &state)
            }
        }
    }

    private func recordFailure(
        _ id: String, _ result: Result<ReplicationResult, PeerError>, _ state: inout State
    ) {
        guard case .failure(let error) = result, var job = state.jobs[id] else { return }
        state.counts.crashed += 1
        job.failure = error.message
        job.addEvent("crashed", error.message)
        state.jobs[id] = job
        notify(.failed(job, error), &state)
    }

    private func later(
        _ delay: Duration, _ body: @escaping @Sendable (ReplicationScheduler, inout State) -> Void
    ) {
        Task { [weak self] in
            try? await Task.sleep(for: delay.bounded)
            guard let self else { return }
            change { body(self, &$0) }
        }
    }

    private func answer(
        _ job: ReplicationJob, _ result: Result<ReplicationResult, PeerError>, _ state: inout State
    ) {
        state.effects += job.waiters.map { waiter in { waiter(result) } }
    }

    private func notify(_ notice: ReplicationNotice, _ state: inout State) {
        state.effects += state.observers.map { observer in { observer(notice) } }
    }

    private func perform(_ job: ReplicationJob, _ run: Int) async {
        let result: Result<ReplicationResult, PeerError>
        do {
            let replicator = try await job.document.replicator(job.client)
            let isWanted = state.update { state in
                guard state.schedule.isWanted(run: run) else { return false }
                state.runs[run]?.replicator = replicator
                return true
            }
            guard isWanted else { throw Self.cancelled }
            result = .success(try await replicator.run())
        } catch let error as PeerError { result = .failure(error) } catch {
            result = .failure(PeerError(.serverError, "the replication failed", isTransient: false, cause: error))
        }
        change { state in
            let replicator = state.runs.removeValue(forKey: run)?.replicator
            // A new job may have the id of a removed one.
            if state.schedule.isWanted(run: run) {
                state.jobs[job.id]?.record(replicator?.status, result)
                if let ledger = replicator?.ledger { state.jobs[job.id]?.ledger = ledger }
            }
            handle(.ended(run: run, Self.ending(of: replicator?.status, result)), &state, result)
            state.effects += state.endings.removeValue(forKey: run) ?? []
        }
    }

    /// The way in which a run has ended.
    private static func ending(
        of status: ReplicationStatus?, _ result: Result<ReplicationResult, PeerError>
    ) -> ReplicationSchedule.Ending {
        guard case .failure(let error) = result else { return .completed }
        return error.isTransient && status?.hasWorked != true ? .failed : .interrupted
    }
}

/// The current jobs and counts.
extension ReplicationScheduler {
    /// Counts since the scheduler was created.
    package struct Counts: Sendable {
        package var started = 0
        package var completed = 0
        package var crashed = 0
    }

    /// Counts since the scheduler was created, and the number of jobs in each state.
    package var counts: (counts: Counts, states: [ReplicationState: Int]) {
        state.withLock { state in
            let away = state.runs.values.count { $0.replicator?.status.progress == .away }
            let crashing = state.schedule.crashingCount
            let running = state.schedule.runningCount
            let pending = max(0, state.jobs.count - crashing - running)
            return (state.counts, [.pending: pending, .running: running - away, .crashing: crashing + away])
        }
    }

    /// The job of an id.
    package func job(_ id: String) -> ReplicationJob? {
        state.withLock { state in state.jobs[id].map { Self.now($0, state) } }
    }

    /// The ledger of a job's current or last run; `nil` if no job has the id.
    package func ledger(of id: String) -> ReplicationLedger? {
        state.withLock { state in
            state.jobs[id].map { job in state.runs[job.run]?.replicator?.ledger ?? job.ledger }
        }
    }

    /// The state of a job of a database's documents; `nil` if there is no such job.
    func standing(of id: String, from database: String) -> LeaseKeeping.Standing? {
        state.withLock { state in
            guard let job = state.jobs[id], job.origin?.database == database else { return nil }
            switch state.schedule.jobs[id]?.phase {
            case .running(let run):
                let progress = state.runs[run]?.replicator?.status.progress ?? .beginning
                let isOver = state.schedule.hasHadTurn(run: run, progress, start.duration(to: .now))
                return isOver ? .served : .working
            case .waiting, .blocked: return job.run > 0 && job.document.isContinuous ? .served : .working
            case .crashing, nil: return .resting
            }
        }
    }

    /// A page of all jobs, ordered by id, and their total number.
    ///
    /// - Complexity: O(page); O(*n* log *n*) after a job was added or removed.
    package func jobs(skip: Int, limit: Int) -> (page: [ReplicationJob], total: Int) {
        state.withLock { state in
            let ids = state.ids ?? state.jobs.keys.sorted()
            state.ids = ids
            let page = ids.dropFirst(skip).prefix(limit).compactMap { state.jobs[$0] }
            return (page.map { Self.now($0, state) }, ids.count)
        }
    }

    /// The running jobs, ordered by id.
    package var runningJobs: [ReplicationJob] {
        let running = state.withLock { state in
            // The job of a run may have been removed, or replaced by one that waits.
            state.runs.values.compactMap { state.jobs[$0.job] }.map { Self.now($0, state) }.filter(\.isRunning)
        }
        return running.sorted { $0.id < $1.id }
    }

    private static func now(_ job: ReplicationJob, _ state: State) -> ReplicationJob {
        var job = job
        job.state = state.schedule.state(of: job.id) ?? .pending
        job.isRunning = job.state == .running
        guard job.isRunning else { return job }
        if let status = state.runs[job.run]?.replicator?.status {
            job.status = status
            // The failure of an earlier run is over once this run works.
            if status.hasWorked { (job.failure, job.failures) = (nil, 0) }
        }
        if job.status?.absence != nil { job.state = .crashing }
        return job
    }
}

/// A notice about a job of a ``ReplicationScheduler``.
package enum ReplicationNotice: Sendable {
    case started(ReplicationJob)
    /// A run failed. It is retried, or ``removed(_:)`` follows.
    case failed(ReplicationJob, PeerError)
    /// The job is done; ``removed(_:)`` follows.
    case completed(ReplicationJob, ReplicationResult)
    /// No job has this id any longer.
    case removed(String)
}
