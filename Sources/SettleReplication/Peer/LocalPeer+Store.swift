internal import RevisionTree
internal import SettleDatabase

extension LocalPeer {
    /// Stores revisions in one transaction, after the contents of their attachments; see ``Peer/store(_:branching:)``.
    ///
    /// Contents are streamed in bounded memory, go on from where they were after a cut, and are checked against their
    /// digests. Of content that a leaf of the same document has here nothing is read.
    public func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome] {
        let intake = try await intake(revisions)
        let (batch, refuses) = (intake.revisions, branching == .refused)
        guard !batch.isEmpty else { return intake.outcomes([], self) }
        return intake.outcomes(try await perform { try $0.insertReplicated(batch, refusingBranches: refuses) }, self)
    }

    /// Stores revisions as ``store(_:branching:)`` does, with what settles the conflicts they make in the same transaction.
    ///
    /// - Parameters:
    ///   - revisions: The revisions.
    ///   - branching: Whether they may become branches.
    ///   - policy: The rule.
    ///   - source: Where revisions in which branches part are fetched that are not kept here.
    /// - Returns: What became of the revisions, in order, and of the documents in conflict.
    /// - Throws: ``PeerError`` for attachments that can't be brought; ``DatabaseError`` when the transaction as a whole fails.
    func store(
        _ revisions: [PeerRevision], branching: Branching, settlingBy policy: ConflictPolicy, basesFrom source: any Peer
    ) async throws -> (outcomes: [StoreOutcome], settlements: [DocumentID: Result<Settlement, DatabaseError>]) {
        let intake = try await intake(revisions)
        guard !intake.revisions.isEmpty else { return (intake.outcomes([], self), [:]) }
        let stored = try await local.insertReplicated(
            intake.revisions, refusingBranches: branching == .refused, settlingBy: policy
        ) { id, missing in
            let found = await source.bases(missing, of: id)
            return (try? await self.intake(found))?.revisions ?? []
        }
        return (intake.outcomes(stored.outcomes, self), stored.settlements)
    }

    /// Brings the contents of attachments, one revision after the other.
    private func intake(_ revisions: [PeerRevision]) async throws -> RevisionIntakeBatch {
        var batch = RevisionIntakeBatch(count: revisions.count)
        for (index, revision) in revisions.enumerated() {
            var stored = ReplicatedRevision(
                id: revision.id, history: revision.history, isDeleted: revision.isDeleted, body: revision.body)
            stored.isDeletionAtSource = revision.isDeletionAtSource
            if !revision.attachments.isEmpty {
                switch try await AttachmentIntake(peer: self, revision: revision).take() {
                case .taken(let attachments): stored.attachments = attachments
                case .not(let outcome):
                    batch.refuse(index, outcome)
                    continue
                }
            }
            batch.take(stored, from: index)
        }
        return batch
    }
}
