import Settle

extension Replicator {
    /// Waits until its status is one that is wanted; the statuses are listened to from before the call's first look.
    @discardableResult
    func waits(for isWanted: (ReplicationStatus) -> Bool) async -> ReplicationStatus {
        for await status in statuses where isWanted(status) { return status }
        return status
    }

    /// Waits until it is idle and something holds of its database; it is looked at again with each status.
    func waits(until condition: @Sendable (ReplicationStatus) throws -> Bool) async rethrows {
        for await status in statuses { if try condition(status) { return } }
    }
}
