internal import Synchronization

/// The properties that differ between devices, for resolvers that wrongly use them: a clock and random numbers.
///
/// Both derive from the schedule's seed, so that a failure replays even with an impure resolver.
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

    /// The time in milliseconds: different at each call, and on each device.
    public func now() -> Int { 1_700_000_000_000 + Int(random() % 1_000_000) }
}
