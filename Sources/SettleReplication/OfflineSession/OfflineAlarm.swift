internal import SettleDatabase

/// Wakes one who waits for a while, before the time.
final class OfflineAlarm: Sendable {
    private let waiters = Guarded<[Int: AsyncStream<Void>.Continuation]>([:])
    private let next = Guarded(0)

    /// Wakes all who wait.
    func ring() { for waiter in waiters.withLock({ Array($0.values) }) { waiter.yield() } }

    /// Waits so long, for ever with `nil`, or until it rings or the task is cancelled.
    func wait(for delay: Duration?) async {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = next.withLock { number in
            number += 1
            return number
        }
        waiters.withLock { $0[number] = continuation }
        defer { _ = waiters.withLock { $0.removeValue(forKey: number) } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stream { return } }
            if let delay { group.addTask { try? await Task.sleep(for: delay) } }
            await group.next()
            group.cancelAll()
        }
    }
}
