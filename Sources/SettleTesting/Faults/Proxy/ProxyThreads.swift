internal import Settle
internal import SettleDatabase
internal import SettlePlatform

/// Threads that end on their own, and can be joined.
final class ProxyThreads: Sendable {
    private struct State {
        var running: [Int: SystemThread] = [:]
        var ended: [SystemThread] = []
        var next = 0
    }

    private let state = Guarded(State())

    /// The number of running threads.
    var count: Int { state.withLock { $0.running.count } }

    /// Starts a thread.
    func start(_ body: @escaping @Sendable () -> Void) throws(FaultProxyError) {
        joinEnded()
        let result = state.withLock { state -> Result<Void, SystemError> in
            let number = state.next
            state.next += 1
            // The thread takes the lock to record its end, so it is recorded as started before.
            return Result { () throws(SystemError) in
                state.running[number] = try SystemThread { [self] in
                    body()
                    noteEnd(of: number)
                }
            }
        }
        do { try result.get() } catch { throw FaultProxyError(error.call, error.code) }
    }

    /// Waits for the end of all threads, including those started meanwhile.
    func joinAll() {
        while true {
            let all = state.withLock { state in
                defer { (state.running, state.ended) = ([:], []) }
                return state.ended + state.running.values
            }
            if all.isEmpty { return }
            for thread in all { thread.join() }
        }
    }

    private func joinEnded() {
        let ended = state.withLock { state in
            defer { state.ended = [] }
            return state.ended
        }
        for thread in ended { thread.join() }
    }

    private func noteEnd(of number: Int) {
        state.withLock { state in
            if let thread = state.running.removeValue(forKey: number) { state.ended.append(thread) }
        }
    }
}
