internal import SettleDatabase
internal import SettlePlatform

/// Commands to a running replication.
final class ReplicationOrders: Sendable {
    /// The commands.
    enum Order: Sendable {
        /// End after the fetched revisions are stored and conflicts are settled.
        case stop
        /// End immediately; conflicts wait for the next start (SEMANTICS 41).
        case suspend
        /// The network changed: retry now.
        case network
    }

    private struct State {
        var waiting: [Order] = []
        var isStopping = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Order?, Never>] = [:]
    }

    private let state = Guarded(State())

    /// Whether the replication has to end.
    var isStopping: Bool { state.withLock(\.isStopping) }

    /// Sends a command.
    func give(_ order: Order) {
        let waiters = state.withLock { state in
            if order != .network { state.isStopping = true }
            defer { state.waiters = [:] }
            if state.waiters.isEmpty { state.waiting.append(order) }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(returning: order) }
    }

    /// The next command; `nil` if the task is cancelled.
    func next() async -> Order? {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let order = state.withLock { state -> Order?? in
                    if Task.isCancelled { return .some(nil) }
                    if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                    state.waiters[number] = continuation
                    return nil
                }
                if let order { continuation.resume(returning: order) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: nil)
        }
    }
}
