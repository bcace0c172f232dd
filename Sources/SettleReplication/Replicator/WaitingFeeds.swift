internal import SettleDatabase
internal import SettlePlatform

/// Calls that only wait for changes, and can be ended at any time without losing anything.
final class WaitingFeeds: Sendable {
    private struct State {
        var last = 0
        var open: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    /// Makes a call; returns another value instead if ``endAll()`` ends the call first.
    func waits<Value: Sendable>(
        unless other: Value, for call: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await call() }
        let number = state.withLock { state in
            state.last += 1
            state.open[state.last] = { task.cancel() }
            return state.last
        }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let wasEnded = state.withLock { $0.open.removeValue(forKey: number) } == nil
        if case .failure = result, wasEnded { return other }
        return try result.get()
    }

    /// Ends the calls that are waiting now.
    func endAll() {
        let open = state.withLock { state in
            defer { state.open = [:] }
            return state.open
        }
        for end in open.values { end() }
    }
}
