internal import SettleDatabase
internal import SettlePlatform

/// Lets waiting tasks be woken early. A waiting task passes the ring count it saw before it checked its condition, so
/// that no ring in between is lost.
final class OfflineAlarm: Sendable {
    private struct State {
        var count = 0
        var next = 0
        var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Guarded(State())

    /// How often the alarm rang.
    var count: Int { state.withLock(\.count) }

    /// Wakes all waiting tasks.
    func ring() {
        let waiters = state.withLock { state in
            state.count += 1
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.yield() }
    }

    /// Waits for a delay, indefinitely if it is `nil`, or until the alarm rings or the task is cancelled.
    func wait(for delay: Duration?, after seen: Int) async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.next += 1
            state.waiters[state.next] = continuation
            if state.count != seen { continuation.yield() }
            return state.next
        }
        defer { _ = state.withLock { $0.waiters.removeValue(forKey: number) } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stream { return } }
            if let delay { group.addTask { try? await Task.sleep(for: delay) } }
            await group.next()
            group.cancelAll()
        }
    }
}
