import SettleDatabase
import SettlePlatform

/// Something that happens once, told by a thread and waited for by a task.
final class Event<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Guarded(State())

    /// Says that it happened; only the first time counts.
    func happen(_ value: Value) {
        let waiters = state.withLock { state in
            if state.value == nil { state.value = value }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Waits until it happened.
    func wait() async -> Value {
        await withCheckedContinuation { continuation in
            let value = state.withLock { state in
                if state.value == nil { state.waiters.append(continuation) }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
