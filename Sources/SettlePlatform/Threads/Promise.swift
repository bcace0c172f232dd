/// A value that arrives once. Closures, threads and tasks can wait for it.
///
///     pending ─────── fulfil ──────→ fulfilled
///        │                               │
///        ├ whenFulfilled   called then   ├ called at once
///        ├ wait            blocks        ├ returns
///        └ get             suspends      └ returns
///
/// Only the first value counts; later ones are dropped. So everything that may end a wait fulfils the same promise:
/// the work, a time limit, or the cancellation of a task. The first one wins.
///
/// Any number of waiters may wait, and each gets the value. A promise that is never fulfilled keeps its waiters
/// forever.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case pending([@Sendable (Value) -> Void])
        case fulfilled(Value)

        var value: Value? { if case .fulfilled(let value) = self { value } else { nil } }
    }

    private let state = Monitor(State.pending([]))

    /// Creates a pending promise.
    package init() {}

    /// Sets the value, and calls the waiting closures on this thread.
    ///
    /// - Returns: Whether this value was the first.
    @discardableResult
    package func fulfil(_ value: Value) -> Bool {
        let takers = state.update { state -> [@Sendable (Value) -> Void]? in
            guard case .pending(let takers) = state else { return nil }
            state = .fulfilled(value)
            return takers
        }
        guard let takers else { return false }
        for taker in takers { taker(value) }
        return true
    }

    /// The value; `nil` while it is pending.
    package var value: Value? { state.withLock(\.value) }

    /// Calls a closure with the value: immediately, or when it is set, on the thread that sets it. The closure must
    /// return soon.
    package func whenFulfilled(_ taker: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state -> Value? in
            switch state {
            case .fulfilled(let value): return value
            case .pending(let takers):
                state = .pending(takers + [taker])
                return nil
            }
        }
        if let value { taker(value) }
    }

    /// A promise of the closure's result for the value.
    package func map<Other>(_ change: @escaping @Sendable (Value) -> Other) -> Promise<Other> {
        let other = Promise<Other>()
        whenFulfilled { other.fulfil(change($0)) }
        return other
    }
}

// MARK: - Waiting

extension Promise {
    /// Waits for the value and blocks the thread, so this must not be a thread that the value's producer needs.
    @available(*, noasync)
    package func wait() -> Value { state.wait(for: \.value) }

    /// Waits for the value for a limited time and blocks the thread; returns `nil` after that.
    @available(*, noasync)
    package func wait(seconds: Double) -> Value? { state.wait(seconds: seconds, for: \.value) }

    /// Waits for the value without blocking a thread. Cancelling the task does not end the wait.
    package func get() async -> Value {
        await withCheckedContinuation { task in whenFulfilled { task.resume(returning: $0) } }
    }

    /// Waits for the value without blocking a thread. If the task is cancelled first, the promise is fulfilled with
    /// another value.
    package func get(ifCancelled other: @autoclosure @escaping @Sendable () -> Value) async -> Value {
        await withTaskCancellationHandler {
            await get()
        } onCancel: {
            fulfil(other())
        }
    }
}
