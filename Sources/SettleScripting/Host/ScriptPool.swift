internal import Dispatch
internal import SettleDatabase
package import SettlePlatform

/// Worker processes that run scripts, with a fair queue of calls.
///
///     submit ─→ queue, by turns of the databases ─→ thread ─→ process ─→ answer
///                                                    one each, started when needed
///
/// A script that runs for too long, uses too much memory or crashes the engine ends its process; the next call
/// starts another one. While calls compute for a long time, more processes are started, up to a limit, so that quick
/// calls need not wait for them. One database never uses more than half of the processes.
public final class ScriptPool: Sendable {
    private struct State {
        var queue: FairQueue<ScriptCall>
        var threads = 0
        /// The number of threads that will look into the queue next: they were just started, or have ended a call.
        var free = 0
        var idle = 0
        /// The number of idle threads that were woken but have not run yet.
        var woken = 0
        var slow = 0
        var isClosed = false
    }

    private let options: ScriptOptions
    private let state: Guarded<State>
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchGroup()

    /// The time that a process waits for work before it ends, in seconds.
    private static let patience = 120.0
    /// The time for which an owner whose script was stopped is put last, in milliseconds. So a hundred endless
    /// loops in one database cost other databases every second turn at first, and later less.
    private static let delay: Int64 = 30_000

    /// Creates a pool. Processes are started on demand.
    public init(_ options: ScriptOptions) {
        let options = options.bounded
        self.options = options
        let half = max((options.workers + options.moreWorkers) / 2, 1)
        state = Guarded(State(queue: FairQueue(share: half, lastShare: max(half / 2, 1))))
        // A worker may end while the pool writes to it.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit { close() }

    /// Writes a line to the log, like those that a script logs.
    package func log(_ line: String, of source: ScriptSource) { options.log(source.owner, line) }

    /// Submits a request, which runs as soon as a worker is free.
    public func submit(_ request: ScriptRequest) -> ScriptCall {
        let call = ScriptCall(request)
        let isOpen = state.withLock { state in
            if !state.isClosed { state.queue.add(call, for: request.source.owner) }
            return !state.isClosed
        }
        guard isOpen else {
            call.answer.fulfil(.failure(.closed))
            return call
        }
        seeToThreads()
        return call
    }

    /// Submits a request and waits for the answer.
    ///
    /// - Throws: ``ScriptError``.
    public func run(_ request: ScriptRequest) throws -> [[UInt8]] { try submit(request).wait() }

    /// Ends all workers after their current calls; waiting calls fail.
    public func close() {
        let (waiting, threads) = state.withLock { state in
            state.isClosed = true
            state.woken += state.threads
            return (state.queue.removeAll(), state.threads)
        }
        for call in waiting { call.answer.fulfil(.failure(.closed)) }
        for _ in 0..<threads { wake.signal() }
    }

    /// Wakes or starts a thread, if calls wait and the limits allow it.
    private func seeToThreads() {
        let (wakes, makes) = state.withLock { state -> (Bool, Bool) in
            guard state.queue.count > 0 else { return (false, false) }
            if state.idle > state.woken {
                state.woken += 1
                return (true, false)
            }
            let limit = options.workers + min(state.slow, options.moreWorkers)
            guard state.queue.count > state.free + state.woken, state.threads < limit, !state.isClosed else {
                return (false, false)
            }
            state.threads += 1
            state.free += 1
            return (false, true)
        }
        if wakes { wake.signal() }
        guard makes else { return }
        ended.enter()
        let body: @Sendable () -> Void = { [self] in
            work()
            ended.leave()
        }
        // If the system can't create a thread, this one runs the calls.
        do { try SystemThread.detach(body) } catch { body() }
    }

    private func work() {
        var process: ScriptProcess?
        while let call = next(&process) {
            run(call, by: &process)
        }
        process?.end()
    }

    /// The next call; `nil` when the thread is to end.
    private func next(_ process: inout ScriptProcess?) -> ScriptCall? {
        var isFree = true
        while true {
            let (call, isEnd) = state.withLock { state -> (ScriptCall?, Bool) in
                if isFree { state.free -= 1 }
                if state.isClosed {
                    state.threads -= 1
                    return (nil, true)
                }
                // The limit for quick calls, plus the slow calls that are running.
                let limit = options.workers + min(state.slow, options.moreWorkers)
                if state.threads <= limit, let entry = state.queue.next(now: Self.now) {
                    return (entry.element, false)
                }
                if state.threads > limit {
                    state.threads -= 1
                    return (nil, true)
                }
                state.idle += 1
                return (nil, false)
            }
            if call != nil || isEnd { return call }
            isFree = false
            let isWoken = wake.wait(timeout: .now() + Self.patience) == .success
            let isOver = state.withLock { state in
                state.idle -= 1
                if isWoken { state.woken -= 1 }
                // Another thread may be about to wake this one.
                if !isWoken, state.queue.count > 0 { return false }
                if !isWoken { state.threads -= 1 }
                return !isWoken
            }
            if isOver { return nil }
        }
    }

    private func run(_ call: ScriptCall, by process: inout ScriptProcess?) {
        let owner = call.request.source.owner
        var isSlow = false
        var attempts = 2
        var answer: ScriptCall.Answer?
        // A process may have been killed while it was idle, which is not the fault of this call.
        if let idle = process, idle.hasEnded {
            idle.end(killing: true)
            process = nil
        }
        while answer == nil {
            attempts -= 1
            let current: ScriptProcess
            do {
                current = try process ?? ScriptProcess(options)
            } catch {
                answer = .failure(error as? ScriptError ?? .closed)
                break
            }
            process = current
            let isInnocent = !current.isNew(to: call.request.source)
            let outcome = current.run(call.request) {
                guard !isSlow else { return }
                isSlow = true
                state.withLock { $0.slow += 1 }
                seeToThreads()
            }
            switch outcome {
            case .answered(let given): answer = given
            case .ended(let code):
                process = nil
                if code == ScriptExit.timeout {
                    answer = .failure(.timeout)
                } else if code == ScriptExit.engine {
                    answer = .failure(.engine)
                } else if !isInnocent || attempts == 0 {
                    answer = .failure(.ended(code))
                }
                if answer != nil {
                    let now = Self.now
                    state.withLock { $0.queue.putLast(owner, until: now + Self.delay, now: now) }
                }
            }
        }
        if let current = process, current.hasGivenWay {
            current.end()
            process = nil
        }
        state.withLock { state in
            if isSlow { state.slow -= 1 }
            state.queue.finish(owner)
            state.free += 1
        }
        call.answer.fulfil(answer ?? .failure(.closed))
        seeToThreads()
    }

    private static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds / 1_000_000) }
}

// MARK: - ScriptCall

/// A request on its way to a worker and back.
public struct ScriptCall: Sendable {
    /// The results, one per item of the request, or an error.
    public typealias Answer = Result<[[UInt8]], ScriptError>

    let request: ScriptRequest
    /// The answer, which a thread of the pool sets.
    package let answer = Promise<Answer>()

    init(_ request: ScriptRequest) { self.request = request }

    /// Waits for the answer, which needs no thread of a shared pool.
    ///
    /// - Throws: ``ScriptError``.
    public func wait() throws -> [[UInt8]] { try answer.wait().get() }
}
