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
    /// The condition under which a policy reduces several live leaves to one.
    public enum Settles: Sendable, Hashable {
        /// Always.
        case always
        /// If the contents of the revisions at which the branches part are kept on any replica.
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

    /// The way in which a replica settles.
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

    /// Describes a custom way of settling, such as another product's, which writes by
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

// MARK: - Ready

extension SimulatedPolicy {
    /// The built-in policies, and typical resolvers of apps, good and bad.
    public static let all: [SimulatedPolicy] = [
        SimulatedPolicy("keepAll", settles: .never) { _ in .keepAll },
        SimulatedPolicy("mostRevisions") { _ in .mostRevisions },
        SimulatedPolicy("deletesWin") { _ in .deletesWin },
        SimulatedPolicy("localWins", isPure: false) { _ in .localWins },
        SimulatedPolicy("remoteWins", isPure: false) { _ in .remoteWins },
        SimulatedPolicy("threeWayMerge", settles: .whereBasesAreKept) { _ in .threeWayMerge() },
        SimulatedPolicy("threeWayMergeByRules", settles: .whereBasesAreKept) { _ in
            .threeWayMerge(MergeRules(attributes: ["/count": .sum, "/tags": .union]))
        },
        SimulatedPolicy("threeWayMergeDeletesWin", settles: .whereBasesAreKept) { _ in
            .threeWayMerge(deletionsWin: true)
        },
        SimulatedPolicy("latestAttributeWins", settles: .whereBasesAreKept) { _ in .latestAttributeWins },
        SimulatedPolicy("latestAttributeWinsDeletionsToo", settles: .whereBasesAreKept) { _ in
            .latestAttributeWins(deletions: .latestWins)
        },
        SimulatedPolicy("longest") { _ in .custom("longest", version: "1", deletions: true, longest) },
        SimulatedPolicy("versions", isPure: false) { device in
            .custom("longest", version: "\(device.replica % 2 + 1)") { conflict in
                device.replica % 2 == 0 ? longest(conflict) : .document(conflict.liveLeaves.last ?? conflict.winner)
            }
        },
        SimulatedPolicy("allMembers") { _ in .custom("allMembers", allMembers) },
        SimulatedPolicy("couchbaseLite", isPure: false, mayDelete: true) { _ in
            .couchbaseLite { _, local, remote in
                guard let local, let remote else { return nil }
                return (local["count"]?.int ?? 0) % 5 == 4 ? nil : remote
            }
        },
        SimulatedPolicy("cloudant") { _ in .cloudant { _, conflicts in conflicts.last } },
        SimulatedPolicy("random", isPure: false) { device in
            .custom("random", deletions: true) { conflict in
                let leaf = conflict.leaves[Int(device.random() % UInt64(conflict.leaves.count))]
                return .document(leaf)
            }
        },
        SimulatedPolicy("clock", isPure: false) { device in
            .custom("clock") { conflict in
                var merged = conflict.winner
                merged["settled"] = .number(JSONNumber(device.now()))
                return .document(merged)
            }
        },
    ]

    /// The policy with a name; `nil` for an unknown name.
    public static func named(_ name: String) -> SimulatedPolicy? { all.first { $0.name == name } }

    /// The leaf with the longest body, or the higher one if they are equal. A deletion counts as the shortest.
    @Sendable private static func longest(_ conflict: Conflict) -> Resolution {
        let longest = conflict.liveLeaves.reversed().max { $0.bodyOrEmpty.utf8.count < $1.bodyOrEmpty.utf8.count }
        return .document(longest ?? conflict.winner)
    }

    /// The members and attachments of all live leaves. Those of higher leaves take precedence.
    @Sendable private static func allMembers(_ conflict: Conflict) -> Resolution {
        var merged = conflict.winner
        var members = conflict.winner.json.object ?? JSONObject()
        for leaf in conflict.liveLeaves.dropFirst() {
            for member in leaf.json.object ?? JSONObject() where members[member.name] == nil {
                members[member.name] = member.value
            }
            for attachment in leaf.attachments where merged.attachment(attachment.name) == nil {
                merged.attachments.append(attachment)
            }
        }
        merged.json = .object(members)
        return .document(merged)
    }
}
