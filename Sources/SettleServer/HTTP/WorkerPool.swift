internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Threads that jobs run on and may block; they are made when they are needed, and stay.
///
/// The thread that became idle last gets the next job: what it needs is still in the processor's cache, and as few threads
/// as will do have memory of their own.
///
/// Jobs have owners, who take turns; one owner alone has three quarters of the threads at most, so that nobody waits for all
/// that another one asked for. Jobs without an owner have no bound.
final class WorkerPool: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        /// What waits for a thread; only while all are busy, or its owner has a share already.
        var jobs = FairJobs()
        var idle: [Idle] = []
        var threads = 0
        var isClosed = false
    }

    /// Where a thread waits for its next job.
    private final class Idle: Sendable {
        private let job = Guarded<FairJobs.Item?>(nil)
        private let woken = DispatchSemaphore(value: 0)

        func wake(_ job: FairJobs.Item?) {
            self.job.withLock { $0 = job }
            woken.signal()
        }

        func wait() -> FairJobs.Item? {
            woken.wait()
            return job.withLock { job in
                defer { job = nil }
                return job
            }
        }
    }

    private let state: Guarded<State>
    private let limit: Int

    /// - Parameter limit: The maximum number of threads; with 0 each job runs at once, on the thread that submits it.
    init(limit: Int) {
        self.limit = limit
        state = Guarded(State(jobs: FairJobs(share: limit < 4 ? limit : limit - limit / 4)))
    }

    /// Runs a job as soon as a thread is free and its owner, if it has one, has fewer than a share of them.
    ///
    /// Also after the pool was closed: a thread is started for it then, which ends after it. A job that only waited would keep
    /// itself alive, with all it uses, because those it belongs to own the pool.
    func submit(for owner: String = "", _ job: @escaping Job) {
        guard limit > 0 else { return job() }
        let (idle, item, needsThread) = state.withLock { state -> (Idle?, FairJobs.Item?, Bool) in
            state.jobs.add(FairJobs.Item(owner: owner, job: job))
            if let idle = state.idle.popLast() {
                if let item = state.jobs.take() { return (idle, item, false) }
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
        var done: FairJobs.Item?
        while true {
            let (item, isEnd) = state.withLock { state -> (FairJobs.Item?, Bool) in
                if let done { state.jobs.finish(done) }
                if let item = state.jobs.take() { return (item, false) }
                if state.isClosed { state.threads -= 1 } else { state.idle.append(idle) }
                return (nil, state.isClosed)
            }
            done = nil
            if isEnd { return }
            guard let item = item ?? idle.wait() else { continue }
            item.job()
            done = item
        }
    }
}

// MARK: - FairJobs

/// Jobs that wait, of which each owner gets one in turn, and has no more than a share under way at a time.
struct FairJobs {
    /// A job, and on whose share it runs; the empty owner has no share.
    struct Item: Sendable {
        let owner: String
        let job: WorkerPool.Job
    }

    private struct Owner {
        /// What waits, from `next` on.
        var waiting: [Item] = []
        var next = 0
        var running = 0
        var hasWaiting: Bool { next < waiting.count }
    }

    private var owners: [String: Owner] = [:]
    /// Those who have jobs that may run, in the order of their turns; from `first` on.
    private var turns: [String] = []
    private var first = 0
    private let share: Int

    /// - Parameter share: How many jobs of one owner may run at the same time.
    init(share: Int = .max) { self.share = share }

    /// Adds a job behind those of its owner.
    mutating func add(_ item: Item) {
        let isFirst = owners[item.owner]?.hasWaiting != true
        owners[item.owner, default: Owner()].waiting.append(item)
        if isFirst, mayRun(item.owner) { turns.append(item.owner) }
    }

    /// Takes the next job that may run; ``finish(_:)`` has to be called behind it.
    mutating func take() -> Item? {
        guard first < turns.count else { return nil }
        let name = turns[first]
        first += 1
        if first == turns.count || first > 1000 {
            turns.removeFirst(first)
            first = 0
        }
        guard var owner = owners[name], owner.hasWaiting else { return nil }
        let item = owner.waiting[owner.next]
        owner.next += 1
        owner.running += 1
        if owner.next == owner.waiting.count || owner.next > 1000 {
            owner.waiting.removeFirst(owner.next)
            owner.next = 0
        }
        owners[name] = owner
        if owner.hasWaiting, mayRun(name) { turns.append(name) }
        return item
    }

    /// Says that a job is done.
    mutating func finish(_ item: Item) {
        guard var owner = owners[item.owner] else { return }
        let couldRun = mayRun(item.owner)
        owner.running -= 1
        owners[item.owner] = owner.running == 0 && !owner.hasWaiting ? nil : owner
        if !couldRun, owner.hasWaiting { turns.append(item.owner) }
    }

    private func mayRun(_ owner: String) -> Bool { owner.isEmpty || owners[owner]?.running ?? 0 < share }
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
