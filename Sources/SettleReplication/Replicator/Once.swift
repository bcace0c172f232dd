internal import SettlePlatform

/// A value that comes once, and that one task waits for; what comes later is dropped.
final class Once<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case full(Value)
        case over
    }

    private let state = Guarded(State.empty)

    /// Whether the value has come.
    var isAnswered: Bool {
        state.withLock { state in
            switch state {
            case .empty, .waiting: false
            case .full, .over: true
            }
        }
    }

    /// Gives the value.
    func answer(_ value: Value) {
        let waiting = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .empty:
                state = .full(value)
                return nil
            case .waiting(let continuation):
                state = .over
                return continuation
            case .full, .over: return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// Waits for the value; called once.
    func value() async -> Value {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> Value? in
                guard case .full(let value) = state else {
                    state = .waiting(continuation)
                    return nil
                }
                state = .over
                return value
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}
