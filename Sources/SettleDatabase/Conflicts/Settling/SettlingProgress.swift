internal import RevisionTree

/// How far automatic settling has looked at the changes of a database.
final class SettlingProgress: Sendable {
    private struct State {
        var seen: UpdateSequence = 0
        var isFinished = false
        var waiters: [(UpdateSequence, CheckedContinuation<Void, Never>)] = []
    }

    private let state = Guarded(State())

    /// Everything up to a sequence was looked at.
    func reach(_ sequence: UpdateSequence) {
        let woken = state.withLock { state in
            state.seen = max(state.seen, sequence)
            let woken = state.waiters.filter { $0.0 <= state.seen }
            state.waiters.removeAll { $0.0 <= state.seen }
            return woken
        }
        for (_, waiter) in woken { waiter.resume() }
    }

    /// Nothing more will be looked at.
    func finish() {
        let woken = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for (_, waiter) in woken { waiter.resume() }
    }

    /// Waits until everything up to a sequence was looked at, or nothing more will be.
    func wait(for sequence: UpdateSequence) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.isFinished || state.seen >= sequence { return true }
                state.waiters.append((sequence, continuation))
                return false
            }
            if isReady { continuation.resume() }
        }
    }
}
