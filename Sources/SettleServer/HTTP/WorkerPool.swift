internal import Dispatch
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Threads that jobs run on and may block; they are made when they are needed, and stay.
///
/// The thread that became idle last gets the next job: what it needs is still in the processor's cache, and as few threads
/// as will do have memory of their own.
///
/// Jobs have owners, which take turns. One owner has three quarters of the threads at most, or another share, so that nobody waits
/// for all that another one asked for. Jobs without an owner have no bound.
final class WorkerPool: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        /// What waits for a thread; only while all are busy, or its owner has a share already.
        var jobs: FairQueue<Job>
        var idle: [Idle] = []
        var threads = 0
        var isClosed = false
    }

    /// Where a thread waits for its next job.
    private final class Idle: Sendable {
        private let job = Guarded<FairQueue<Job>.Entry?>(nil)
        private let woken = DispatchSemaphore(value: 0)

        func wake(_ job: FairQueue<Job>.Entry?) {
            self.job.withLock { $0 = job }
            woken.signal()
        }

        func wait() -> FairQueue<Job>.Entry? {
            woken.wait()
            return job.withLock { job in
                defer { job = nil }
                return job
            }
        }
    }

    private let state: Guarded<State>
    private let limit: Int

    /// - Parameters:
    ///   - limit: The maximum number of threads; with 0 each job runs at once, on the thread that submits it.
    ///   - share: The maximum number of threads that one owner has; three quarters by default.
    init(limit: Int, share: Int? = nil) {
        self.limit = limit
        state = Guarded(State(jobs: FairQueue(share: share ?? (limit < 4 ? limit : limit - limit / 4))))
    }

    /// Runs a job as soon as a thread is free and its owner, if it has one, has fewer than a share of them.
    ///
    /// Also after the pool was closed: a thread is started for it then, which ends after it. A job that only waited would keep
    /// itself alive, with all it uses, because those it belongs to own the pool.
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

    /// Ends the threads once all jobs are done.
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
            guard let item = item ?? idle.wait() else { continue }
            item.element()
            done = item.owner
        }
    }
}

// MARK: - WorkerPools

/// The threads of a transport.
struct WorkerPools: Sendable {
    /// Where handlers and streams run.
    let workers: WorkerPool
    /// Where parts of long bodies are put into files.
    let uploads: WorkerPool
    /// Where requests for feeds run, and streams that have waited. They come by the thousand, and others should not queue behind
    /// them.
    let feeds: WorkerPool

    /// Where a request runs.
    func workers(for target: RequestTarget) -> WorkerPool {
        let last = target.segments.last
        return last == "_changes" || last == "_db_updates" ? feeds : workers
    }

    /// Ends the threads once all jobs are done.
    func close() {
        workers.close()
        uploads.close()
        feeds.close()
    }
}
