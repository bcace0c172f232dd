internal import SettleDatabase

/// Revisions that are ready to be stored, and those that can't be.
struct RevisionBatch: Sendable {
    /// The ready revisions, in order.
    private(set) var revisions: [ReplicatedRevision] = []
    private var places: [Int] = []
    private var known: [StoreOutcome?]

    init(count: Int) {
        known = [StoreOutcome?](repeating: nil, count: count)
        revisions.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    /// Adds a ready revision.
    mutating func take(_ revision: ReplicatedRevision, from index: Int) {
        revisions.append(revision)
        places.append(index)
    }

    /// Records that a revision can't be stored.
    mutating func refuse(_ index: Int, _ outcome: StoreOutcome) { known[index] = outcome }

    /// The outcomes of all revisions, given those of the ready ones.
    func outcomes(_ written: [ReplicatedRevision.Outcome], _ peer: LocalPeer) -> [StoreOutcome] {
        var outcomes = known
        for (place, outcome) in zip(places, written) {
            outcomes[place] =
                switch outcome {
                case .stored: .stored
                case .known: .known
                case .refused(let error) where error.code == .attachmentMissing:
                    .failed(PeerError(error, of: peer.name))
                case .refused(let error): .refused(PeerError(error, of: peer.name))
                }
        }
        return outcomes.compactMap(\.self)
    }
}
