/// What an ``OfflineSession`` is doing.
///
///     offline ── goOnline, network is back ──→ synchronizing ── all is sent and fetched ──→ online
///        ↑                                      │      ↑                                       │
///        ├──────── no network, goOffline ───────┤      ├──────────── a change ─────────────────┤
///        │                                      │    goOnline                                  │
///        │                       a refusal ─────┴→ syncFailed                                  │
///        └──────────────────────── no network, goOffline ──────────────────────────────────────┘
public enum OfflineState: String, Sendable, CaseIterable {
    /// Changes are sent to the server immediately.
    case online = "ONLINE"
    /// Changes stay here, on request or because there is no network.
    case offline = "OFFLINE"
    /// Operations are being sent in order, or changes of others are being fetched.
    case synchronizing = "SYNCHRONIZING"
    /// The server refused an operation. Later operations wait until it is resolved.
    case syncFailed = "SYNC FAILED"
}
