public import Settle
internal import Synchronization

/// A policy to simulate, with the guarantees that the simulation checks.
///
///     let newest = SimulatedPolicy("newest") { _ in
///         .custom("newest") { conflict in
///             .document(conflict.leaves.max { ($0["date"]?.string ?? "") < ($1["date"]?.string ?? "") } ?? conflict.winner)
///         }
///     }
///     var options = SimulationOptions()
///     options.policies = [newest]
///     let failure = try Simulation(options).failure(in: 0..<1000)
///
/// ## Topics
/// ### Ready policies
/// - ``all``
/// - ``named(_:)``
public struct SimulatedPolicy: Sendable {
    /// When a policy reduces several live leaves to one.
    public enum Settles: Sendable, Hashable {
        /// Always.
        case always
        /// If the contents of the revisions at which the branches part are kept, on any replica.
        case whereBasesAreKept
        /// Never; it writes nothing.
        case never
    }

    /// The policy's name.
    public let name: String
    /// Whether all replicas that settle the same leaves write the same revisions. A policy that uses the order of
    /// arrival, a clock or random numbers does not.
    public let isPure: Bool
    /// When it reduces several live leaves to one.
    public let settles: Settles
    /// Whether it may delete a document that no user deleted.
    public let mayDelete: Bool
    let make: @Sendable (SimulatedDevice) -> Settler

    /// How a replica settles.
    struct Settler: Sendable {
        let kinds: Set<ConflictKind>
        let policy: ConflictPolicy?
        let settle: @Sendable (Database, DocumentID) throws -> Void
    }

    /// Describes a policy.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - isPure: Whether equal leaves give equal revisions.
    ///   - settles: When it reduces several live leaves to one.
    ///   - mayDelete: Whether it may delete a document that no user deleted.
    ///   - make: Makes the policy of one replica.
    public init(
        _ name: String, isPure: Bool = true, settles: Settles = .always, mayDelete: Bool = false,
        _ make: @escaping @Sendable (SimulatedDevice) -> ConflictPolicy
    ) {
        self.name = name
        self.isPure = isPure
        self.settles = settles
        self.mayDelete = mayDelete
        self.make = { device in
            let policy = make(device)
            return Settler(kinds: policy.kinds, policy: policy) { try $0.settle($1, using: policy) }
        }
    }

    /// Describes a custom way of settling, such as that of another product, which writes by
    /// ``Settle/Database/insertReplicated(_:)``.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - isPure: Whether equal leaves give equal revisions.
    ///   - mayDelete: Whether it may delete a document that no user deleted.
    ///   - kinds: The kinds of conflicts it settles.
    ///   - settle: Settles the conflict of a document.
    public init(
        _ name: String, isPure: Bool = true, mayDelete: Bool = false, kinds: Set<ConflictKind> = [.branches],
        settlingBy settle: @escaping @Sendable (Database, DocumentID, SimulatedDevice) throws -> Void
    ) {
        self.name = name
        self.isPure = isPure
        settles = .always
        self.mayDelete = mayDelete
        make = { device in Settler(kinds: kinds, policy: nil) { try settle($0, $1, device) } }
    }

    /// Settles the conflict of one document with this policy, on a device.
    public func settleOnce(_ id: DocumentID, in database: Database, as device: SimulatedDevice) throws {
        try make(device).settle(database, id)
    }
}

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
