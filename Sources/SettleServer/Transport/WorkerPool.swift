internal import Dispatch
internal import SettleDatabase

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Threads that handlers run on and may block; they are made when they are needed, and stay.
///
/// The thread that became idle last gets the next job: what it needs is still in the processor's cache, and as few threads
/// as will do have memory of their own.
final class WorkerPool: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State {
        /// What waits for a thread, from `next` on; only while all are busy.
        var jobs: [Job] = []
        var next = 0
        var idle: [Idle] = []
        var threads = 0
        var isClosed = false
    }

    /// Where a thread waits for its next job.
    private final class Idle: Sendable {
        private let job = Guarded<Job?>(nil)
        private let woken = DispatchSemaphore(value: 0)

        func wake(_ job: Job?) {
            self.job.withLock { $0 = job }
            woken.signal()
        }

        func wait() -> Job? {
            woken.wait()
            return job.withLock { job in
                defer { job = nil }
                return job
            }
        }
    }

    private let state = Guarded(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Runs a job as soon as a thread is free.
    func submit(_ job: @escaping Job) {
        let (idle, needsThread) = state.withLock { state -> (Idle?, Bool) in
            if let idle = state.idle.popLast() { return (idle, false) }
            state.jobs.append(job)
            guard state.threads < limit else { return (nil, false) }
            state.threads += 1
            return (nil, true)
        }
        idle?.wake(job)
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
        let work = Unmanaged.passRetained(Work { [self] in run() })
        #if canImport(Glibc)
        var thread: pthread_t = 0
        let code = pthread_create(&thread, nil, { Work.start($0) }, work.toOpaque())
        #else
        var thread: pthread_t?
        let code = pthread_create(&thread, nil, { Work.start($0) }, work.toOpaque())
        #endif
        guard code == 0 else {
            work.release()
            return state.withLock { $0.threads -= 1 }
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
    }

    private func run() {
        let idle = Idle()
        while true {
            let (job, isEnd) = state.withLock { state -> (Job?, Bool) in
                if let job = Self.takeJob(&state) { return (job, false) }
                if !state.isClosed { state.idle.append(idle) }
                return (nil, state.isClosed)
            }
            if isEnd { return }
            guard let job = job ?? idle.wait() else { continue }
            job()
        }
    }

    private static func takeJob(_ state: inout State) -> Job? {
        guard state.next < state.jobs.count else { return nil }
        defer {
            state.next += 1
            if state.next == state.jobs.count || state.next > 1000 {
                state.jobs.removeFirst(state.next)
                state.next = 0
            }
        }
        return state.jobs[state.next]
    }
}

/// What a new thread is to do.
private final class Work {
    let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    static func start(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
    }
}
