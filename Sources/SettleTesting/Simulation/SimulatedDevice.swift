internal import Synchronization

/// What differs from device to device, for resolvers that should not look at it: a clock and random numbers.
///
/// Both come from the schedule's seed, so that a failure replays even where a resolver is impure.
public final class SimulatedDevice: Sendable {
    /// The replica's number, from 0.
    public let replica: Int
    private let state: Atomic<UInt64>

    /// Makes the device of a replica.
    public init(replica: Int, seed: UInt64) {
        self.replica = replica
        var random = SeededRandom(seed: seed &+ UInt64(replica) &* 0x1000_0001)
        state = Atomic(random.next())
    }

    /// A random number.
    public func random() -> UInt64 {
        var random = SeededRandom(seed: state.wrappingAdd(1, ordering: .relaxed).newValue)
        return random.next()
    }

    /// The time in milliseconds, as this device has it: another one at each call, and on each device.
    public func now() -> Int { 1_700_000_000_000 + Int(random() % 1_000_000) }
}
