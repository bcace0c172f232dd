/// What an ``OfflineSession`` is doing.
///
///     offline ── goOnline, network is back ──→ synchronizing ── all is sent and fetched ──→ online
///        ↑                                      │      ↑                                       │
///        ├──────── no network, goOffline ───────┤      ├──────────── a change ─────────────────┤
///        │                                      │    retry                                     │
///        │                       a refusal ─────┴→ syncFailed                                  │
///        └──────────────────────── no network, goOffline ──────────────────────────────────────┘
public enum OfflineState: String, Sendable, CaseIterable {
    /// Changes go to the server at once.
    case online = "ONLINE"
    /// Changes stay here, by request or for want of a network.
    case offline = "OFFLINE"
    /// Operations are being sent, one after the other, or what others changed is being fetched.
    case synchronizing = "SYNCHRONIZING"
    /// The server refused an operation. Nothing behind it is sent until somebody decides what becomes of it.
    case syncFailed = "SYNC FAILED"
}
