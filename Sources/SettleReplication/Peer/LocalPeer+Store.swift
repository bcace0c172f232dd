internal import RevisionTree
internal import SettleDatabase

extension LocalPeer {
    /// Stores revisions in one transaction, after the contents of their attachments; see ``Peer/store(_:branching:)``.
    ///
    /// Contents are streamed in bounded memory, go on from where they were after a cut, and are checked against their
    /// digests. Of content that a leaf of the same document has here nothing is read.
    public func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome] {
        var outcomes = [StoreOutcome?](repeating: nil, count: revisions.count)
        var replicated: [ReplicatedRevision] = []
        var places: [Int] = []
        replicated.reserveCapacity(revisions.count)
        places.reserveCapacity(revisions.count)
        for (index, revision) in revisions.enumerated() {
            var stored = ReplicatedRevision(
                id: revision.id, history: revision.history, isDeleted: revision.isDeleted, body: revision.body)
            stored.isDeletionAtSource = revision.isDeletionAtSource
            if !revision.attachments.isEmpty {
                switch try await AttachmentIntake(peer: self, revision: revision).take() {
                case .taken(let attachments): stored.attachments = attachments
                case .not(let outcome):
                    outcomes[index] = outcome
                    continue
                }
            }
            replicated.append(stored)
            places.append(index)
        }
        let (batch, refuses) = (replicated, branching == .refused)
        guard !batch.isEmpty else { return outcomes.compactMap(\.self) }
        let written = try await perform { try $0.insertReplicated(batch, refusingBranches: refuses) }
        for (place, outcome) in zip(places, written) {
            outcomes[place] =
                switch outcome {
                case .stored: .stored
                case .known: .known
                case .refused(let error) where error.code == .attachmentMissing: .failed(PeerError(error, of: name))
                case .refused(let error): .refused(PeerError(error, of: name))
                }
        }
        return outcomes.compactMap(\.self)
    }
}
