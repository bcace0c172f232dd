internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleReplication

/// Runs the server's replications, so many at the same time, and keeps those that failed for another try.
///
/// Jobs wait in one queue. Where some wait, those that run for ever are stopped by turns and go to the queue's end, the ones
/// that can't reach a peer first; nothing is lost by that, for they go on from their checkpoints.
final class ReplicationScheduler: Sendable {

    struct State {
        var jobs: [String: ReplicationJob] = [:]
        /// The jobs that wait, in order.
        var queue: [String] = []
        var running = 0
        /// Runs of jobs that are gone, by name: another of the same name waits for them.
        var ending: [String: Task<Void, Never>] = [:]
        var runs = 0
        var isTurning = false
        var isStopped = false
        var counts = Counts()
        /// Called with completed jobs that come from documents.
        var onCompletion: @Sendable (ReplicationJob, ReplicationResult, ReplicationStatus.Seen) -> Void = { _, _, _ in }
        /// Called when a job is gone.
        var onRemoval: @Sendable (String) -> Void = { _ in }
    }

    /// What happened since the server started.
    struct Counts: Sendable {
        var started = 0
        var completed = 0
        var crashed = 0
    }

    let options: ReplicatorOptions
    let policy: TargetPolicy
    private let log: ServerLog?
    let state = Monitor(State())

    init(_ options: ReplicatorOptions, log: ServerLog?) {
        self.options = options
        self.log = log
        policy = TargetPolicy(options)
    }

    /// Adds a job, or a waiter to the one that is there.
    ///
    /// - Returns: Where the job comes from that has the name already, if it is another one.
    @discardableResult
    func add(
        _ job: ReplicationJob, waiter: (@Sendable (Result<ReplicationResult, PeerError>) -> Void)? = nil
    ) -> ReplicationJob? {
        let other = state.update { state -> ReplicationJob? in
            if let other = state.jobs[job.id] {
                if let waiter { state.jobs[job.id]?.waiters.append(waiter) }
                return other
            }
            var job = job
            if let waiter { job.waiters.append(waiter) }
            state.jobs[job.id] = job
            state.queue.append(job.id)
            return nil
        }
        schedule()
        return other
    }

    /// Stops a job and forgets it; returns it, if there was one that a condition holds for.
    @discardableResult
    func remove(_ id: String, where condition: (ReplicationJob) -> Bool = { _ in true }) -> ReplicationJob? {
        let job = state.update { state -> ReplicationJob? in
            guard let job = state.jobs[id], condition(job) else { return nil }
            forget(job, &state)
            return job
        }
        guard let job else { return nil }
        let replicator = job.replicator
        Task { await replicator?.stop() }
        for waiter in job.waiters { waiter(.failure(PeerError(.cancelled, "the replication was cancelled"))) }
        state.withLock(\.onRemoval)(id)
        schedule()
        return job
    }

    /// A job, by its name.
    func job(_ id: String) -> ReplicationJob? { state.withLock { $0.jobs[id] } }

    /// All jobs, in the order of their names.
    var jobs: [ReplicationJob] { state.withLock { $0.jobs.values.sorted { $0.id < $1.id } } }

    /// Stops all jobs and takes no more, and waits for them a while.
    func stop(seconds: Double) {
        let jobs = state.update { state in
            state.isStopped = true
            state.queue = []
            return Array(state.jobs.values)
        }
        for job in jobs {
            for waiter in job.waiters { waiter(.failure(PeerError(.busy, "the server is being stopped", status: 503))) }
            if let replicator = job.replicator { Task { await replicator.suspend() } }
        }
        _ = state.wait(seconds: seconds) { $0.running == 0 ? true : nil }
    }

    /// Starts jobs that wait, as far as there is room.
    private func schedule() {
        let (started, mustTurn) = state.update { state -> ([ReplicationJob], Bool) in
            guard !state.isStopped else { return ([], false) }
            var started: [ReplicationJob] = []
            while state.running < max(1, options.jobs), !state.queue.isEmpty {
                let id = state.queue.removeFirst()
                guard var job = state.jobs[id], case .pending = job.phase else { continue }
                state.runs += 1
                state.running += 1
                state.counts.started += 1
                (job.phase, job.run, job.runStart, job.isMakingRoom) = (.running, state.runs, .now, false)
                job.note("started")
                let (run, before) = (job.run, state.ending.removeValue(forKey: id))
                let work = JobRun(job, policy)
                job.task = Task { [self] in
                    await before?.value
                    await perform(work, id, run)
                }
                state.jobs[id] = job
                started.append(job)
            }
            let mustTurn = !state.queue.isEmpty && !state.isTurning
            if mustTurn { state.isTurning = true }
            return (started, mustTurn)
        }
        for job in started { log?.notice("replication_started", details(job)) }
        if mustTurn { Task { await turn() } }
    }

    /// Stops continuous jobs after their turn, so that jobs that wait can run.
    ///
    /// A turn does not end before the run has copied something, waits for changes or can't reach a peer, or else turns that
    /// are shorter than a run's first requests would never copy anything. A run that has done nothing gets a minute.
    private func turn() async {
        let turn = Duration.seconds(options.turn)
        while true {
            try? await Task.sleep(for: turn)
            let stopped = state.update { state -> [Replicator]? in
                guard !state.queue.isEmpty, !state.isStopped else {
                    state.isTurning = false
                    return nil
                }
                let candidates = state.jobs.values.filter { job in
                    guard case .running = job.phase, job.document.isContinuous, !job.isMakingRoom,
                        let replicator = job.replicator
                    else { return false }
                    let time = ContinuousClock.now - job.runStart
                    return time >= turn && (replicator.status.hasBegun || time >= .seconds(60))
                }.sorted { left, right in
                    let isLeftAway = left.seen.problem != nil
                    return isLeftAway == (right.seen.problem != nil) ? left.run < right.run : isLeftAway
                }.prefix(state.queue.count)
                for job in candidates { state.jobs[job.id]?.isMakingRoom = true }
                return candidates.compactMap(\.replicator)
            }
            guard let stopped else { return }
            for replicator in stopped { Task { await replicator.stop() } }
        }
    }

    private func perform(_ work: JobRun, _ id: String, _ run: Int) async {
        var result: Result<ReplicationResult, PeerError>
        var replicator: Replicator?
        do {
            let made = try await work.replicator()
            replicator = made
            // One that was removed meanwhile is not begun.
            let isWanted = state.update { state in
                guard !state.isStopped, state.jobs[id]?.run == run else { return false }
                state.jobs[id]?.replicator = made
                return true
            }
            result =
                isWanted
                ? .success(try await made.run()) : .failure(PeerError(.cancelled, "the replication was cancelled"))
        } catch let error as PeerError { result = .failure(error) } catch {
            result = .failure(PeerError(.serverError, "the replication failed", isTransient: false, cause: error))
        }
        ended(id, run, result, replicator.map { ReplicationStatus.Seen($0.status) })
    }

    private func ended(
        _ id: String, _ run: Int, _ result: Result<ReplicationResult, PeerError>, _ seen: ReplicationStatus.Seen?
    ) {
        var completed: (ReplicationJob, ReplicationResult, ReplicationStatus.Seen)?
        var waiters: [@Sendable (Result<ReplicationResult, PeerError>) -> Void] = []
        var delay: Duration?
        var line: (ReplicationJob, String?)?
        state.update { state in
            state.running -= 1
            guard var job = state.jobs[id], job.run == run, !state.isStopped else { return }
            (job.replicator, job.task) = (nil, nil)
            if let seen { job.last = seen }
            switch result {
            case .success where job.isMakingRoom:
                job.phase = .pending
                (job.failures, job.problem) = (0, nil)
                job.note("stopped")
                state.jobs[id] = job
                state.queue.append(id)
            case .success(let result):
                state.counts.completed += 1
                if let number = result.log?["source_last_seq"] { job.last.checkpointed = PeerSequence(number) }
                job.last.position = result.end
                state.jobs[id] = nil
                waiters = job.waiters
                completed = (job, result, job.last)
                line = (job, nil)
            case .failure(let error):
                state.counts.crashed += 1
                job.failures += 1
                job.problem = error.message
                job.note("crashed", error.message)
                line = (job, error.message)
                if job.origin == nil, !job.document.isContinuous {
                    state.jobs[id] = nil
                    waiters = job.waiters
                } else {
                    job.phase = .crashing
                    state.jobs[id] = job
                    delay = self.delay(after: job.failures)
                }
            }
        }
        for waiter in waiters { waiter(result) }
        if let (job, problem) = line {
            if let problem {
                log?.warning("a replication failed: \(problem)", details(job))
            } else {
                log?.notice("replication_completed", details(job))
            }
        }
        if let completed {
            state.withLock(\.onCompletion)(completed.0, completed.1, completed.2)
            state.withLock(\.onRemoval)(id)
        }
        if let delay {
            Task { [weak self] in
                try? await Task.sleep(for: delay)
                self?.retry(id, run)
            }
        }
        schedule()
    }

    private func retry(_ id: String, _ run: Int) {
        state.update { state in
            guard let job = state.jobs[id], job.run == run, case .crashing = job.phase else { return }
            state.jobs[id]?.phase = .pending
            state.queue.append(id)
        }
        schedule()
    }

    private func delay(after failures: Int) -> Duration {
        let doubled = options.retryDelay * Double(1 << min(max(failures - 1, 0), 20))
        return .seconds(min(doubled, options.longestRetryDelay) * Double.random(in: 0.75...1))
    }

    private func forget(_ job: ReplicationJob, _ state: inout State) {
        state.jobs[job.id] = nil
        state.queue.removeAll { $0 == job.id }
        guard let task = job.task else { return }
        state.ending[job.id] = task
        Task { [weak self] in
            await task.value
            self?.state.update { if $0.ending[job.id] == task { $0.ending[job.id] = nil } }
        }
    }

    private func details(_ job: ReplicationJob) -> KeyValuePairs<String, String> {
        let (source, target) = (job.document.source.shown, job.document.target.shown)
        guard let origin = job.origin else { return ["replication": job.id, "source": source, "target": target] }
        return [
            "replication": job.id, "source": source, "target": target,
            "document": "\(origin.database)/\(origin.document)",
        ]
    }
}
