internal import SettleDatabase
internal import SettlePlatform

/// The wall clock of a simulated device, which may differ from the others' by any amount, and be set forward or back.
final class SimulatedClock: Sendable {
    private let time = Guarded<Int64>(0)

    /// Its time, in milliseconds since 1970.
    var now: Int64 { time.withLock(\.self) }

    /// Sets the time.
    func set(_ milliseconds: Int64) { time.withLock { $0 = milliseconds } }

    /// Sets the time forward or back.
    func step(by milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}
