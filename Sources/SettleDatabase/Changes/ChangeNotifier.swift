internal import SettlePlatform

/// Wakes those who wait for something to be committed.
///
/// It knows one number, the newest sequence; a waiter says what it has seen and is woken once there is more. Nothing is
/// queued, so a slow observer costs nothing.
final class ChangeNotifier: Sendable {
    private struct State {
        var newest: UpdateSequence = 0
        var isFinished = false
        var nextWaiter = 0
        var waiters: [Int: @Sendable (Bool) -> Void] = [:]
    }

    private let state = Guarded(State())

    /// Says that all up to a sequence is committed.
    func announce(_ newest: UpdateSequence) {
        let woken = state.withLock { state -> [@Sendable (Bool) -> Void] in
            state.newest = newest
            guard !state.waiters.isEmpty else { return [] }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in woken { waiter(true) }
    }

    /// Lets go of all who wait, for good.
    func finish() {
        let woken = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in woken { waiter(false) }
    }

    /// Whether nothing will be announced any more, for the database is closed.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Waits until something after a sequence is committed; false when the database is closed or the task cancelled.
    func wait(after seen: UpdateSequence) async -> Bool {
        let number = newWaiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: false) }
                register(number, after: seen) { continuation.resume(returning: $0) }
                // Cancelled meanwhile, the handler below has found nobody to wake.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// Calls a closure once: as soon as something after a sequence is committed, on the thread that did it, or with false
    /// when the database is closed. Returns the number by which to ``cancel(_:)``.
    func notify(after seen: UpdateSequence, _ waiter: @escaping @Sendable (Bool) -> Void) -> Int {
        let number = newWaiter()
        register(number, after: seen, waiter)
        return number
    }

    /// Calls a waiter with false, if it was not called yet.
    func cancel(_ number: Int) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
        waiter?(false)
    }

    private func newWaiter() -> Int {
        state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
    }

    private func register(_ number: Int, after seen: UpdateSequence, _ waiter: @escaping @Sendable (Bool) -> Void) {
        let answer = state.withLock { state -> Bool? in
            if state.isFinished { return false }
            if state.newest > seen { return true }
            state.waiters[number] = waiter
            return nil
        }
        if let answer { waiter(answer) }
    }
}
