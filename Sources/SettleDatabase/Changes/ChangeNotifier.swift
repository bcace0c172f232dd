/// Wakes those who wait for something to be committed.
///
/// It knows one number, the newest sequence; a waiter says what it has seen and is woken once there is more. Nothing is
/// queued, so a slow observer costs nothing.
final class ChangeNotifier: Sendable {
    private struct State {
        var newest: UpdateSequence = 0
        var isFinished = false
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = Guarded(State())

    /// Says that all up to a sequence is committed.
    func announce(_ newest: UpdateSequence) {
        let woken = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            state.newest = newest
            guard !state.waiters.isEmpty else { return [] }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in woken { waiter.resume(returning: true) }
    }

    /// Lets go of all who wait, for good.
    func finish() {
        let woken = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in woken { waiter.resume(returning: false) }
    }

    /// Waits until something after a sequence is committed; false when the database is closed or the task cancelled.
    func wait(after seen: UpdateSequence) async -> Bool {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.isFinished || Task.isCancelled { return false }
                    if state.newest > seen { return true }
                    state.waiters[number] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.resume(returning: false)
        }
    }
}
