internal import RevisionTree
internal import SettlePlatform

/// How far automatic settling has looked at the changes of a database.
final class SettlingProgress: Sendable {
    private struct Waiter {
        let sequence: UpdateSequence
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        /// Everything up to here was looked at, but for what is open.
        var scanned: UpdateSequence = 0
        /// The sequences of documents that are being settled.
        var open: [Int: UpdateSequence] = [:]
        var nextQuestion = 0
        var isFinished = false
        var nextWaiter = 0
        var waiters: [Int: Waiter] = [:]

        /// Those who need not wait any more.
        var ready: [Int: Waiter] { waiters.filter { isDone($0.value.sequence) } }

        func isDone(_ sequence: UpdateSequence) -> Bool {
            isFinished || (scanned >= sequence && open.values.allSatisfy { $0 > sequence })
        }
    }

    private let state = Guarded(State())

    /// Everything up to a sequence was looked at.
    func reach(_ sequence: UpdateSequence) {
        wake { state in
            state.scanned = max(state.scanned, sequence)
            return state.ready
        }
    }

    /// A document that was changed at a sequence is being settled; returns a number for its end.
    func begin(_ sequence: UpdateSequence) -> Int {
        state.withLock { state in
            state.nextQuestion += 1
            state.open[state.nextQuestion] = sequence
            return state.nextQuestion
        }
    }

    /// A document was settled, or not.
    func end(_ question: Int) {
        wake { state in
            state.open[question] = nil
            return state.ready
        }
    }

    /// Nothing more will be looked at.
    func finish() {
        wake { state in
            state.isFinished = true
            return state.waiters
        }
    }

    /// Waits until everything up to a sequence was looked at, nothing more will be, or the task is cancelled.
    func wait(for sequence: UpdateSequence) async {
        let number = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isDone(sequence) || Task.isCancelled { return true }
                    state.waiters[number] = Waiter(sequence: sequence, continuation: continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            wake { $0.waiters.filter { $0.key == number } }
        }
    }

    private func wake(_ choose: @Sendable (inout State) -> [Int: Waiter]) {
        let woken = state.withLock { state in
            let woken = choose(&state)
            for number in woken.keys { state.waiters[number] = nil }
            return woken.values.map(\.continuation)
        }
        for continuation in woken { continuation.resume() }
    }
}
