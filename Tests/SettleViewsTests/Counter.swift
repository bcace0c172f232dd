import SettleDatabase
import SettlePlatform

/// Counts across threads.
final class Counter: Sendable {
    private let count = Guarded(0)

    func add(_ number: Int) { count.withLock { $0 += number } }

    var value: Int { count.withLock { $0 } }
}
