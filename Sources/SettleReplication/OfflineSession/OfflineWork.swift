internal import SettleDatabase
internal import SettlePlatform

/// Runs jobs one after the other, each in a task of its own that can be cancelled.
final class OfflineWork: Sendable {
    private struct State {
        var tail: Task<Void, Never>?
        var next = 0
        var cancels: [Int: @Sendable () -> Void] = [:]
    }

    private let state = Guarded(State())

    /// Runs a job after those before it, and waits for its result.
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

    /// Cancels the running job and all waiting ones.
    func cancel() {
        for cancel in state.withLock({ Array($0.cancels.values) }) { cancel() }
    }
}
