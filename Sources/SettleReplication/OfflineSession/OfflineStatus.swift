/// How an ``OfflineSession`` is doing.
public struct OfflineStatus: Sendable {
    /// What it is doing.
    public internal(set) var state: OfflineState = .online
    /// The refused operation in ``OfflineState/syncFailed``, until it is decided.
    public internal(set) var conflict: OfflineConflict?
    /// Why it is offline, or could not synchronize, where that was not asked for.
    public internal(set) var error: PeerError?
    /// Of which time by the server's clock the data here is, in milliseconds since 1970; `nil` before the first
    /// synchronization.
    public internal(set) var lastSyncDate: Int64?
}
