internal import SettlePlatform

/// The answer of a policy, passed from its producer to the waiting task; the first one counts.
final class Answer: Sendable {
    private struct State {
        var result: Result<PolicyDecision, any Error>?
        var waiter: CheckedContinuation<Result<PolicyDecision, any Error>, Never>?
    }

    private let state = Guarded(State())

    /// Gives the answer, unless there is one already.
    func give(_ result: Result<PolicyDecision, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Result<PolicyDecision, any Error>, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: result)
    }

    /// The answer; `nil` if there is none yet.
    var taken: Result<PolicyDecision, any Error>? { state.withLock(\.result) }

    /// Waits for the answer; only one task may wait.
    func wait() async -> Result<PolicyDecision, any Error> {
        await withCheckedContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiter = continuation }
                return state.result
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}
