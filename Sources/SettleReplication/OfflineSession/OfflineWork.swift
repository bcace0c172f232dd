internal import SettleDatabase
internal import SettlePlatform

/// Runs one piece of work after the other, each in a task of its own, which can be cancelled from outside.
final class OfflineWork: Sendable {
    private struct State {
        var tail: Task<Void, Never>?
        var next = 0
        var cancels: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    /// Runs a piece of work after those before it, and waits for its end.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (task, number) = state.withLock { state in
            let before = state.tail
            let task = Task {
                await before?.value
                return try await body()
            }
            state.tail = Task { _ = await task.result }
            state.next += 1
            state.cancels[state.next] = { task.cancel() }
            return (task, state.next)
        }
        defer { _ = state.withLock { $0.cancels.removeValue(forKey: number) } }
        return try await task.value
    }

    /// Cancels all that was asked for and is not done: what is going on, and what waits behind it.
    func cancel() {
        for cancel in state.withLock({ Array($0.cancels.values) }) { cancel() }
    }
}
