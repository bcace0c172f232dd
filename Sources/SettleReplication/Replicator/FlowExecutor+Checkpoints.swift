internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Checkpoints of a flow.
extension FlowExecutor {
    /// Whether there is something that the newest checkpoint does not say. A source without any change is still at the start,
    /// however it writes that.
    var hasNews: Bool {
        let position = flow.tracker.position
        guard configuration.usesCheckpoints, position != checkpointer.recorded else { return false }
        return !(checkpointer.recorded.isStart && position.number == 0)
    }

    /// Writes a checkpoint, if there is something new; what could not be brought is listed before.
    mutating func checkpoint(_ group: inout TaskGroup<Event>) {
        let position = flow.tracker.position
        guard hasNews, !isCheckpointing else { return }
        isCheckpointing = true
        let (checkpointer, checkpoints, write, keep) = (checkpointer, checkpoints, writing(position), keepLedger)
        group.addTask {
            await keep()
            var checkpointer = checkpointer
            let outcome = await checkpoints.run(write(), &checkpointer)
            return .checkpointed(checkpointer, outcome)
        }
    }

    /// Takes what came of a checkpoint.
    mutating func take(_ outcome: Checkpointer.Outcome) {
        switch outcome {
        case .written(let side?):
            let other: Checkpointer.Side = side == .source ? .target : .source
            guard !state.currentWarnings.contains(where: { $0.kind == .checkpointOnOneSide }) else { return }
            state.warn(
                .checkpointOnOneSide,
                "the \(other.rawValue) does not allow a log, so the checkpoint is on the \(side.rawValue) alone")
        case .written, .resumed, .forgotten: break
        case .changed: end = .startOver
        case .failed(let error):
            guard error.code != .cancelled else { return }
            state.warn(.checkpointNotWritten, "the checkpoint was not written: \(error)")
        }
    }

    /// Writes the last checkpoint.
    mutating func writeLastCheckpoint() async {
        await keepLedger()
        let position = flow.tracker.position
        guard hasNews else { return }
        let outcome = await checkpoints.run(writing(position)(), &checkpointer)
        if case .changed = outcome {
            state.warn(
                .checkpointNotWritten, "a log was changed by somebody else, so the last checkpoint was not written")
        } else {
            take(outcome)
        }
    }

    /// Reads and writes the logs on both peers.
    private var checkpoints: CheckpointExecutor {
        CheckpointExecutor(
            source: configuration.source.operations, target: configuration.target.operations)
    }

    /// Makes the event of a checkpoint at a position, with a new name and the time at which it is made.
    private func writing(_ position: PeerSequence) -> @Sendable () -> Checkpointer.Event {
        let counts = flow.counts
        return { .write(position, counts, name: SecureRandom.hexadecimal(), time: .now()) }
    }

    /// Keeps the ledger in the local database.
    var keepLedger: @Sendable () async -> Void {
        let (state, id, database) = (state, checkpointer.id.ledgerID, configuration.database)
        return {
            guard let database, let body = state.ledgerToKeep()?.json else { return }
            try? await database.perform { _ = try $0.saveLocalDocument(id, body: DocumentBody(body)) }
        }
    }
}
