/// The status of an ``OfflineSession``.
public struct OfflineStatus: Sendable {
    /// The state.
    public internal(set) var state: OfflineState = .online
    /// The refused operation in ``OfflineState/syncFailed``, until it is resolved.
    public internal(set) var conflict: OfflineConflict?
    /// Why the session is offline without a request, or could not synchronize.
    public internal(set) var error: PeerError?
    /// The server's time as of which the data is up to date, in milliseconds since 1970; `nil` before the first
    /// synchronization.
    public internal(set) var lastSyncDate: Int64?
}
