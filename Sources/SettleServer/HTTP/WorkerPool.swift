internal import Dispatch
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Threads that run jobs, which may block. They are created on demand; all but one end after a minute without a job.
///
/// The thread that became idle last gets the next job: its data is still in the processor's cache, and the threads
/// that a rush has left over end.
///
/// Jobs have owners, which take turns. By default one owner may use three quarters of the threads, so that other
/// owners never have to wait for all of its jobs. Jobs without an owner are not limited.
final class WorkerPool: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        /// The jobs that wait because all threads are busy or their owner uses its share.
        var jobs: FairQueue<Job>
        var idle: [Idle] = []
        var threads = 0
        var isClosed = false
    }

    /// A thread that waits for its next job.
    private final class Idle: Sendable {
        private let assigned = Guarded<FairQueue<Job>.Entry?>(nil)
        private let woken = DispatchSemaphore(value: 0)

        func wake(_ job: FairQueue<Job>.Entry?) {
            assigned.withLock { $0 = job }
            woken.signal()
        }

        /// - Returns: Whether it was woken before the time was over.
        func wait(_ time: DispatchTimeInterval) -> Bool { woken.wait(timeout: .now() + time) == .success }

        /// The job with which it was woken.
        func job() -> FairQueue<Job>.Entry? {
            assigned.withLock { job in
                defer { job = nil }
                return job
            }
        }
    }

    private let state: Guarded<State>
    private let limit: Int
    private let idleTime: DispatchTimeInterval

    /// The number of threads that there are now.
    var threads: Int { state.withLock { $0.threads } }

    /// - Parameters:
    ///   - limit: The maximum number of threads; with 0 each job runs at once, on the thread that submits it.
    ///   - share: The maximum number of threads that one owner may use; three quarters by default.
    ///   - idleTime: How long a thread waits for a job before it ends.
    init(limit: Int, share: Int? = nil, idleTime: DispatchTimeInterval = .seconds(60)) {
        self.limit = limit
        self.idleTime = idleTime
        state = Guarded(State(jobs: FairQueue(share: share ?? (limit < 4 ? limit : limit - limit / 4))))
    }

    /// Runs a job when a thread is free and its owner, if any, uses less than its share.
    ///
    /// This also works after the pool was closed: a thread is then started for the job, and ends after it. A job
    /// that waited forever would keep itself alive with all it uses, because the objects it belongs to own the
    /// pool.
    func submit(for owner: String = "", _ job: @escaping Job) {
        guard limit > 0 else { return job() }
        let (idle, item, needsThread) = state.withLock { state -> (Idle?, FairQueue<Job>.Entry?, Bool) in
            state.jobs.add(job, for: owner)
            if let idle = state.idle.popLast() {
                if let item = state.jobs.next() { return (idle, item, false) }
                state.idle.append(idle)
                return (nil, nil, false)
            }
            guard state.threads < limit else { return (nil, nil, false) }
            state.threads += 1
            return (nil, nil, true)
        }
        idle?.wake(item)
        if needsThread { startThread() }
    }

    /// Ends the threads after all jobs.
    func close() {
        let idle = state.withLock { state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }
        for thread in idle { thread.wake(nil) }
    }

    private func startThread() {
        do { try SystemThread.detach { self.run() } } catch { state.withLock { $0.threads -= 1 } }
    }

    private func run() {
        let idle = Idle()
        var done: String?
        while true {
            let (item, isEnd) = state.withLock { state -> (FairQueue<Job>.Entry?, Bool) in
                if let done { state.jobs.finish(done) }
                if let item = state.jobs.next() { return (item, false) }
                if state.isClosed { state.threads -= 1 } else { state.idle.append(idle) }
                return (nil, state.isClosed)
            }
            done = nil
            if isEnd { return }
            if item == nil, !waitsForJob(idle) { return }
            guard let item = item ?? idle.job() else { continue }
            item.element()
            done = item.owner
        }
    }

    /// Waits until the thread has a job or the pool is closed.
    ///
    /// - Returns: False if the time is over; the thread has then left the pool.
    private func waitsForJob(_ idle: Idle) -> Bool {
        while !idle.wait(idleTime) {
            let hasLeft = state.withLock { state in
                // One thread stays. One that is no longer in the list is being woken.
                guard state.threads > 1, let place = state.idle.firstIndex(where: { $0 === idle }) else { return false }
                state.idle.remove(at: place)
                state.threads -= 1
                return true
            }
            if hasLeft { return false }
        }
        return true
    }
}

// MARK: - WorkerPools

/// The threads of a listener.
struct WorkerPools: Sendable {
    /// Runs handlers and streams.
    let workers: WorkerPool
    /// Writes parts of long bodies to files.
    let uploads: WorkerPool
    /// Runs requests for feeds, and woken streams. There may be thousands of them, and other requests should not
    /// queue after them.
    let feeds: WorkerPool

    /// The pool that runs a request.
    func workers(for target: RequestTarget) -> WorkerPool {
        let last = target.segments.last
        return last == "_changes" || last == "_db_updates" ? feeds : workers
    }

    /// Ends the threads after all jobs.
    func close() {
        workers.close()
        uploads.close()
        feeds.close()
    }
}
