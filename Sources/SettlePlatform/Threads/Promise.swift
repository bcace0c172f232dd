/// A value that comes once, which closures, threads and tasks may wait for.
///
///     pending ─────── fulfil ──────→ fulfilled
///        │                               │
///        ├ whenFulfilled   called then   ├ called at once
///        ├ wait            blocks        ├ returns
///        └ get             suspends      └ returns
///
/// The first value counts, and later ones are dropped. So everything that may end a wait fulfils the same promise: the work, a time
/// limit, the cancellation of a task. The fastest wins.
///
/// Any number may wait, and each gets the value. A promise that nobody fulfils keeps its waiters forever.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case pending([@Sendable (Value) -> Void])
        case fulfilled(Value)

        var value: Value? { if case .fulfilled(let value) = self { value } else { nil } }
    }

    private let state = Monitor(State.pending([]))

    /// Makes a promise that is pending.
    package init() {}

    /// Gives the value, on whose arrival closures are called on this thread.
    ///
    /// - Returns: Whether it was the first.
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

    /// Calls a closure with the value: at once, or when it comes, on the thread that gives it. The closure must return soon.
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

    /// A promise of what a closure makes of the value.
    package func map<Other>(_ change: @escaping @Sendable (Value) -> Other) -> Promise<Other> {
        let other = Promise<Other>()
        whenFulfilled { other.fulfil(change($0)) }
        return other
    }
}

// MARK: - Waiting

extension Promise {
    /// Waits for the value. The thread is blocked, so this must not be a thread that others need to go on.
    @available(*, noasync)
    package func wait() -> Value { state.wait(for: \.value) }

    /// Waits for the value for some time; returns `nil` after that.
    @available(*, noasync)
    package func wait(seconds: Double) -> Value? { state.wait(seconds: seconds, for: \.value) }

    /// Waits for the value without a thread; a cancelled task waits on.
    package func get() async -> Value {
        await withCheckedContinuation { task in whenFulfilled { task.resume(returning: $0) } }
    }

    /// Waits for the value without a thread. If the task is cancelled first, the promise is fulfilled with another value.
    package func get(ifCancelled other: @autoclosure @escaping @Sendable () -> Value) async -> Value {
        await withTaskCancellationHandler {
            await get()
        } onCancel: {
            fulfil(other())
        }
    }
}
