import Settle

extension OneWayReplicator {
    /// Waits for a status; it listens to statuses from before the call's first check.
    @discardableResult
    func waits(for isWanted: (ReplicationStatus) -> Bool) async -> ReplicationStatus {
        for await status in statuses where isWanted(status) { return status }
        return status
    }

    /// Waits until it is idle and a condition holds for its database, checked at each status.
    func waits(until condition: @Sendable (ReplicationStatus) throws -> Bool) async rethrows {
        for await status in statuses { if try condition(status) { return } }
    }
}

/// Waits until the task is cancelled, as somebody does who never answers.
///
/// - Throws: `CancellationError`.
func waitForCancellation() async throws {
    let (never, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    continuation.finish()
    throw CancellationError()
}
