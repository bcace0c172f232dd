#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Threads that handlers run on and may block; they are made when they are needed, and stay.
final class WorkerPool: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var next = 0
        var threads = 0
        var busy = 0
        var isClosed = false
    }

    private let state = Monitor(State())
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// Runs a job as soon as a thread is free.
    func submit(_ job: @escaping @Sendable () -> Void) {
        let needsThread = state.updateForOne { state in
            state.jobs.append(job)
            let isEnough = state.threads - state.busy >= state.jobs.count - state.next
            guard !isEnough, state.threads < limit else { return false }
            state.threads += 1
            return true
        }
        if needsThread { startThread() }
    }

    /// Ends the threads once all jobs are done.
    func close() { state.update { $0.isClosed = true } }

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
            return state.update { $0.threads -= 1 }
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
    }

    private func run() {
        while let job = nextJob() {
            job()
            state.withLock { $0.busy -= 1 }
        }
    }

    private func nextJob() -> (@Sendable () -> Void)? {
        state.wait { state -> (@Sendable () -> Void)?? in
            if state.next < state.jobs.count {
                let job = state.jobs[state.next]
                state.next += 1
                state.busy += 1
                if state.next == state.jobs.count || state.next > 1000 {
                    state.jobs.removeFirst(state.next)
                    state.next = 0
                }
                return .some(job)
            }
            return state.isClosed ? .some(nil) : nil
        }
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
