internal import Dispatch
internal import Foundation
internal import SettlePlatform

extension ConflictPolicy {
    /// Calls a policy that does not wait.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for one that waits, `resolverFailed` or `timedOut`.
    func decideNow(_ conflict: Conflict) throws -> PolicyDecision {
        guard case .now(let decide) = decider else {
            throw DatabaseError(.invalid, "the policy \(self) waits for an answer; settle with an asynchronous call")
        }
        guard let timeLimit else { return try wrapping(conflict) { try checked(conflict, decide) } }
        let answer = Answer()
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            answer.give(Result { try checked(conflict, decide) })
            isDone.signal()
        }
        let (seconds, attoseconds) = timeLimit.components
        let wait = DispatchTime.now() + Double(seconds) + Double(attoseconds) / 1e18
        guard isDone.wait(timeout: wait) == .success, let result = answer.taken else { throw timedOut(conflict) }
        return try wrapping(conflict) { try result.get() }
    }

    /// Calls any policy, off the caller's thread.
    ///
    /// - Throws: ``DatabaseError`` with code `resolverFailed` or `timedOut`, or `CancellationError`.
    func decide(_ conflict: Conflict) async throws -> PolicyDecision {
        guard case .later(let decide) = decider else {
            return try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(with: Result { try decideNow(conflict) })
                }
            }
        }
        let answer = Answer()
        let asking = Task { answer.give(await Result.catching { try await checked(conflict, decide) }) }
        let limit = timeLimit.map { limit in
            Task {
                try await Task.sleep(for: limit)
                answer.give(.failure(NoAnswer.timedOut))
            }
        }
        let result = await withTaskCancellationHandler {
            await answer.wait()
        } onCancel: {
            answer.give(.failure(NoAnswer.cancelled))
        }
        asking.cancel()
        limit?.cancel()
        switch result {
        case .failure(NoAnswer.timedOut): throw timedOut(conflict)
        case .failure(NoAnswer.cancelled): throw CancellationError()
        default: return try wrapping(conflict) { try result.get() }
        }
    }

    /// Calls the policy, twice if purity is checked.
    private func checked(
        _ conflict: Conflict, _ decide: (Conflict) throws -> PolicyDecision
    ) throws -> PolicyDecision {
        var decision = try decide(conflict)
        if checksPurity { decision.isImpure = try decide(conflict).resolution != decision.resolution }
        return decision
    }

    private func checked(
        _ conflict: Conflict, _ decide: (Conflict) async throws -> PolicyDecision
    ) async throws -> PolicyDecision {
        var decision = try await decide(conflict)
        if checksPurity { decision.isImpure = try await decide(conflict).resolution != decision.resolution }
        return decision
    }

    private func timedOut(_ conflict: Conflict) -> DatabaseError {
        let limit = timeLimit.map(\.description) ?? ""
        return DatabaseError(
            .timedOut,
            "the policy \(self) took longer than \(limit) over \"\(conflict.documentID)\"; the conflict stays")
    }

    /// Any error of a resolver, even a database error, is a failure of its conflict alone.
    private func wrapping<Result>(_ conflict: Conflict, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch {
            throw DatabaseError(
                .resolverFailed, "the policy \(self) failed over \"\(conflict.documentID)\"; the conflict stays",
                cause: error)
        }
    }
}

/// The policy did not answer in time, or the caller was cancelled.
private enum NoAnswer: Error {
    case timedOut, cancelled
}

extension Result where Failure == any Error {
    fileprivate static func catching(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

// MARK: - Answer

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
