internal import Dispatch
internal import Foundation
internal import SettlePlatform

extension ConflictPolicy {
    /// Calls a policy that does not wait.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for a policy that waits, `resolverFailed` or `timedOut`.
    func decideNow(_ conflict: Conflict) throws -> PolicyDecision {
        guard case .now(let decide) = decider else {
            throw DatabaseError(.invalid, "the policy \(self) waits for an answer; settle with an asynchronous call")
        }
        guard let timeLimit else { return try wrapping(conflict) { try checked(conflict, decide) } }
        let answer = Promise<Result<PolicyDecision, any Error>>()
        Thread.detachNewThread { answer.fulfil(Result { try checked(conflict, decide) }) }
        guard let result = answer.wait(seconds: timeLimit.inSeconds) else { throw timedOut(conflict) }
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
        let answer = Promise<Result<PolicyDecision, any Error>>()
        let asking = Task { answer.fulfil(await Result.catching { try await checked(conflict, decide) }) }
        let limit = timeLimit.map { limit in
            Task {
                try await Task.sleep(for: limit.bounded)
                answer.fulfil(.failure(NoAnswer.timedOut))
            }
        }
        let result = await answer.get(ifCancelled: .failure(NoAnswer.cancelled))
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

    /// Runs a closure. Any error of a resolver, even a database error, becomes a failure of its conflict alone.
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
