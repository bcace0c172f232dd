internal import SettleDatabase
internal import SettlePlatform

/// Calls that only wait for something to happen, and may be ended at any time because nothing is lost by that.
final class WaitingFeeds: Sendable {
    private struct State {
        var last = 0
        var open: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    /// Makes a call, or returns something else in its place when all are to end before it does.
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

    /// Ends those that wait now.
    func endAll() {
        let open = state.withLock { state in
            defer { state.open = [:] }
            return state.open
        }
        for end in open.values { end() }
    }
}
