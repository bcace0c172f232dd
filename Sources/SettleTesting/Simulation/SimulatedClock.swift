internal import SettleDatabase
internal import SettlePlatform

/// The wall clock of a simulated device: as far from the others' as it likes, and put forward and back.
final class SimulatedClock: Sendable {
    private let time = Guarded<Int64>(0)

    /// What it shows, in milliseconds since 1970.
    var now: Int64 { time.withLock(\.self) }

    /// Sets it.
    func set(_ milliseconds: Int64) { time.withLock { $0 = milliseconds } }

    /// Puts it forward, or back.
    func step(by milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}
