internal import SettlePlatform
internal import Synchronization

/// Wakes observers that wait for a commit.
///
/// It stores only the newest sequence. A waiter passes the sequence it has seen, and is woken once there is a newer
/// one. Nothing is queued, so a slow observer costs nothing.
final class ChangeNotifier: Sendable {
    private struct State {
        var newest: UpdateSequence = 0
        var isFinished = false
        var nextWaiter = 0
        var waiters: [Int: @Sendable (Bool) -> Void] = [:]
        /// Those that are only woken when the database is closed.
        var lastWaiters: [Int: @Sendable (Bool) -> Void] = [:]
    }

    private let state = Guarded(State())

    /// Announces that everything up to a sequence is committed.
    func announce(_ newest: UpdateSequence) {
        let woken = state.withLock { state -> [@Sendable (Bool) -> Void] in
            state.newest = max(state.newest, newest)
            guard !state.waiters.isEmpty else { return [] }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in woken { waiter(true) }
    }

    /// Wakes all waiters for the last time.
    func finish() {
        let woken = state.withLock { state in
            state.isFinished = true
            defer { (state.waiters, state.lastWaiters) = ([:], [:]) }
            return Array(state.waiters.values) + Array(state.lastWaiters.values)
        }
        for waiter in woken { waiter(false) }
    }

    /// Waits until the database is closed or the task is cancelled.
    func waitForEnd() async {
        let number = newWaiter()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isFinished || Task.isCancelled { return true }
                    state.lastWaiters[number] = { _ in continuation.resume() }
                    return false
                }
                if isOver { return continuation.resume() }
                // If the task was cancelled meanwhile, the handler below found no waiter to wake.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// The newest sequence that was announced; 0 before the first.
    var newest: UpdateSequence { state.withLock { $0.newest } }

    /// Whether the database is closed, so that nothing more will be announced.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Waits for a commit after a sequence; false if the database is closed or the task is cancelled.
    func wait(after seen: UpdateSequence) async -> Bool {
        let number = newWaiter()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume(returning: false) }
                register(number, after: seen) { continuation.resume(returning: $0) }
                // If the task was cancelled meanwhile, the handler below found no waiter to wake.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// Calls a closure once: on the committing thread, as soon as something after a sequence is committed, or with
    /// false if the database is closed. Returns the number for ``cancel(_:)``.
    func notify(after seen: UpdateSequence, _ waiter: @escaping @Sendable (Bool) -> Void) -> Int {
        let number = newWaiter()
        register(number, after: seen, waiter)
        return number
    }

    /// Calls a waiter with false, unless it was called already.
    func cancel(_ number: Int) {
        let waiter = state.withLock { state in
            state.waiters.removeValue(forKey: number) ?? state.lastWaiters.removeValue(forKey: number)
        }
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

// MARK: - DesignChanges

/// Counts commits that changed design documents, so that cached design documents can be checked for being current.
final class DesignChanges: Sendable {
    private let isPending = Atomic<Bool>(false)
    private let count = Atomic<UInt64>(0)

    /// Records that a design document is being written.
    func note() { isPending.store(true, ordering: .sequentiallyConsistent) }

    /// Records a commit, before its writer is notified.
    func commit() {
        guard isPending.exchange(false, ordering: .sequentiallyConsistent) else { return }
        count.add(1, ordering: .sequentiallyConsistent)
    }

    /// How often design documents were changed since the database was opened.
    var age: UInt64 { count.load(ordering: .sequentiallyConsistent) }
}

/// Counts changes of settings, so that cached settings can be checked for being current.
final class SettingsChanges: Sendable {
    private let count = Atomic<UInt64>(0)

    /// Records that settings have changed, or may have.
    func note() { count.add(2, ordering: .sequentiallyConsistent) }

    /// Records that a setting is about to be changed, or just was.
    func step() { count.add(1, ordering: .sequentiallyConsistent) }

    /// An epoch that changes before and after every change.
    var age: UInt64 { count.load(ordering: .sequentiallyConsistent) }
}
