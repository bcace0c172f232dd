internal import Settle
internal import SettleDatabase
internal import SettlePlatform

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
    /// The last sequence that it has read from each other replica.
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

/// The wall clock of a simulated device, which may differ from other clocks by any amount, and may be set forward
/// or back.
final class SimulatedClock: Sendable {
    private let time = Guarded<Int64>(0)

    /// Its time, in milliseconds since 1970.
    var now: Int64 { time.withLock(\.self) }

    /// Sets the time.
    func set(_ milliseconds: Int64) { time.withLock { $0 = milliseconds } }

    /// Sets the time forward or back.
    func step(by milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

extension SimulatedReplica {
    /// The missing inputs of a merge: the contents of bases, or the paths that lead to them.
    struct MissingBases {
        /// The bases whose contents this replica lacks.
        var revisions: [RevisionID] = []
        /// Whether a base may be among the stemmed revisions.
        var areCut = false
    }

    /// A revision and its ancestors, as far as they are known.
    private struct Past {
        var revisions: Set<RevisionID> = []
        /// The highest generation of a stemmed ancestor; 0 if no ancestor was stemmed.
        var forgotten: UInt64 = 0

        func union(_ other: Past) -> Past {
            Past(revisions: revisions.union(other.revisions), forgotten: max(forgotten, other.forgotten))
        }
    }

    /// A closing tombstone; `revision` is the revision it closes, if known.
    private struct Closing {
        let generation: UInt64
        let revision: RevisionID?
        let survivor: RevisionID
    }

    /// The missing inputs for merging a document's live leaves, by definition: the two leaves with the highest
    /// newest common revision are merged first, and all other leaves are merged with the result; revisions closed
    /// for another one count as its ancestors.
    func missingBases(_ id: DocumentID) throws -> MissingBases {
        let tree = try tree(id)
        let closings = try closings(of: id, in: tree)
        var pasts = tree.leaves.filter { !$0.isDeleted }.map { past(of: $0.revision, in: tree, closings) }
        var missing = MissingBases()
        while pasts.count > 1 {
            let common = pasts.indices.flatMap { first in
                pasts[(first + 1)...].compactMap { pasts[first].revisions.intersection($0.revisions).max() }
            }
            let base = common.max()
            let merged = pasts.filter { past in base.map(past.revisions.contains) ?? true }
            if merged.contains(where: { $0.forgotten > base?.generation ?? 0 }) { missing.areCut = true }
            if let base, try database.document(id, revision: base) == nil { missing.revisions.append(base) }
            pasts.removeAll { past in base.map(past.revisions.contains) ?? true }
            pasts.append(merged.dropFirst().reduce(merged[0]) { $0.union($1) })
        }
        return missing
    }

    private func closings(of id: DocumentID, in tree: RevisionTree) throws -> [Closing] {
        try tree.leaves.filter(\.isDeleted).compactMap { leaf in
            let body = try database.document(id, revision: leaf.revision)
            return body?["$closed"]?.string.flatMap { RevisionID($0) }.map { survivor in
                Closing(
                    generation: leaf.revision.generation - 1, revision: tree.parent(of: leaf.revision),
                    survivor: survivor)
            }
        }
    }

    private func past(of revision: RevisionID, in tree: RevisionTree, _ closings: [Closing]) -> Past {
        var past = Past()
        var open = [revision]
        while let next = open.popLast() {
            guard past.revisions.insert(next).inserted else { continue }
            if let parent = tree.parent(of: next) {
                open.append(parent)
            } else {
                past.forgotten = max(past.forgotten, next.generation - 1)
            }
            for closing in closings where closing.survivor == next {
                guard let closed = closing.revision else {
                    past.forgotten = max(past.forgotten, closing.generation)
                    continue
                }
                if closed < next { open.append(closed) }
            }
        }
        return past
    }
}
