internal import SettleCore
internal import SettlePlatform

/// How far automatic settling has processed the changes of a database.
final class SettlingProgress: Sendable {
    private struct Waiter {
        let sequence: UpdateSequence
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        /// Everything up to here was processed, except for open questions.
        var scanned: UpdateSequence = 0
        /// The sequences of documents that are being settled.
        var open: [Int: UpdateSequence] = [:]
        var nextQuestion = 0
        var isFinished = false
        var nextWaiter = 0
        var waiters: [Int: Waiter] = [:]

        /// The waiters whose sequence has been processed.
        var ready: [Int: Waiter] { waiters.filter { isDone($0.value.sequence) } }

        func isDone(_ sequence: UpdateSequence) -> Bool {
            isFinished || (scanned >= sequence && open.values.allSatisfy { $0 > sequence })
        }
    }

    private let state = Guarded(State())

    /// Records that everything up to a sequence was processed.
    func reach(_ sequence: UpdateSequence) {
        wake { state in
            state.scanned = max(state.scanned, sequence)
            return state.ready
        }
    }

    /// Records that a document that was changed at a sequence is being settled; returns a number for ``end(_:)``.
    func begin(_ sequence: UpdateSequence) -> Int {
        state.withLock { state in
            state.nextQuestion += 1
            state.open[state.nextQuestion] = sequence
            return state.nextQuestion
        }
    }

    /// Records that a document was settled, or not.
    func end(_ question: Int) {
        wake { state in
            state.open[question] = nil
            return state.ready
        }
    }

    /// Records that nothing more will be processed.
    func finish() {
        wake { state in
            state.isFinished = true
            return state.waiters
        }
    }

    /// Waits until everything up to a sequence was processed, processing has ended, or the task is cancelled.
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
