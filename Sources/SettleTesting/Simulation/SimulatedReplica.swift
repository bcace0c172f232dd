internal import Settle

/// One copy of the database, with a user and a policy.
final class SimulatedReplica {
    let index: Int
    let policy: SimulatedPolicy
    let settler: SimulatedPolicy.Settler
    private let temporary: TemporaryDatabase
    /// Its wall clock, if changes are stamped.
    let clock: SimulatedClock?
    /// Its group; it communicates only with replicas of the same group.
    var group = 0
    /// The last sequence it has read from each other replica.
    var seen: [Int: UpdateSequence] = [:]

    init(
        _ index: Int, _ policy: SimulatedPolicy, _ temporary: TemporaryDatabase, _ clock: SimulatedClock?, seed: UInt64
    ) {
        self.clock = clock
        self.index = index
        self.policy = policy
        self.temporary = temporary
        settler = policy.make(SimulatedDevice(replica: index, seed: seed))
    }

    var database: Database { temporary.database }

    func reopen() throws { try temporary.reopen() }

    func tree(_ id: DocumentID) throws -> RevisionTree { try database.tree(of: id) ?? RevisionTree() }

    /// The conflict as its policy would see it.
    func conflict(_ id: DocumentID) throws -> Conflict? { try database.conflict(of: id, kinds: settler.kinds) }
}
