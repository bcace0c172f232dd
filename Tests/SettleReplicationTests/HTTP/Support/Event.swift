import SettleDatabase
import SettlePlatform

/// A one-time event that a thread signals and a task awaits.
final class Event<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Guarded(State())

    /// Signals the event; only the first time counts.
    func happen(_ value: Value) {
        let waiters = state.withLock { state in
            if state.value == nil { state.value = value }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    /// Waits for the event.
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
