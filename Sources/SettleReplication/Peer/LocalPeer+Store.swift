internal import SettleCore
internal import SettleDatabase

extension LocalPeer {
    /// Stores revisions in one transaction, after the contents of their attachments; see ``Peer/store(_:branching:)``.
    ///
    /// Contents are streamed in bounded memory, resumed after a cut, and verified against their digests. Content that a
    /// leaf of the same document has here is not read.
    public func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome] {
        let intake = try await intake(revisions)
        let (batch, refuses) = (intake.revisions, branching == .refused)
        guard !batch.isEmpty else { return intake.outcomes([], self) }
        return intake.outcomes(try await perform { try $0.insertReplicated(batch, refusingBranches: refuses) }, self)
    }

    /// Stores revisions like ``store(_:branching:)``, and settles the conflicts they cause in the same transaction.
    ///
    /// - Parameters:
    ///   - revisions: The revisions.
    ///   - branching: Whether they may become branches.
    ///   - policy: The conflict policy.
    ///   - source: Where merge bases that are missing here are fetched.
    /// - Returns: The outcome of each revision, in order, and of each document in conflict.
    /// - Throws: ``PeerError`` for attachments that can't be fetched; ``DatabaseError`` if the transaction as a whole
    ///   fails.
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

    /// Stores the contents of attachments, one revision after the other.
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
