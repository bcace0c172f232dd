internal import SettleDatabase

/// Runs one piece of work after the other, each in a task of its own, which can be cancelled from outside.
final class OfflineWork: Sendable {
    private struct State {
        var tail: Task<Void, Never>?
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Guarded(State())

    /// Runs a piece of work after those before it, and waits for its end.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let task = state.withLock { state in
            let before = state.tail
            let task = Task {
                await before?.value
                return try await body()
            }
            state.tail = Task { _ = await task.result }
            state.cancel = { task.cancel() }
            return task
        }
        return try await task.value
    }

    /// Cancels the piece of work that was asked for last.
    func cancel() { state.withLock(\.cancel)?() }
}
