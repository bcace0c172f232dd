#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The rules of an offline session: a value that receives events and returns the next action.
///
/// There is never more than one thing to do, and the session does it before it reports the next event. Operations are sent in
/// their order, and the first refusal ends it; later ones wait (SEMANTICS 176, 179).
struct OfflineMachine: Sendable {
    /// What happened.
    enum Event: Sendable {
        /// Somebody wants to be online, or to try again.
        case goOnline
        /// Somebody wants to be offline.
        case goOffline
        /// There is an operation in the journal.
        case changed
        /// There is something new at the server.
        case serverChanged
        /// The network is back.
        case reachable
        /// The server is not reached.
        case unreachable(PeerError)
        /// The journal's first operation was looked for; whether there is one.
        case head(Bool)
        /// The server took the operation that was sent.
        case accepted(at: Date)
        /// The server refused it.
        case refused(OfflineConflict)
        /// All that is new at the server is here.
        case fetched(at: Date)
        /// It can't go on, for another reason than the network.
        case failed(PeerError)
        /// Somebody has decided what becomes of the refused operation, or it was reverted.
        case decided
        /// All that was here is gone.
        case erased
    }

    /// What to do.
    enum Action: Sendable, Equatable {
        /// Look for the journal's first operation.
        case lookForOperation
        /// Send it.
        case send
        /// Fetch what others changed.
        case fetch
    }

    private(set) var status = OfflineStatus()
    /// Whether being offline was asked for, so that only being asked ends it.
    private(set) var wantsOffline = false
    /// Whether what others changed is fetched when all is sent.
    let fetchesAfterPush: Bool

    init(fetchesAfterPush: Bool, lastSyncDate: Date?, isOnline: Bool) {
        self.fetchesAfterPush = fetchesAfterPush
        status.lastSyncDate = lastSyncDate
        status.state = isOnline ? .online : .offline
        wantsOffline = !isOnline
    }

    /// Takes an event; returns what to do now, `nil` for nothing.
    mutating func handle(_ event: Event) -> Action? {
        switch (status.state, event) {
        case (_, .goOffline):
            wantsOffline = true
            status.state = .offline
            status.conflict = nil
            status.error = nil
        case (.online, .goOnline), (.offline, .goOnline), (.syncFailed, .goOnline):
            wantsOffline = false
            return begin()
        case (.online, .changed), (.online, .serverChanged): return begin()
        case (.offline, .reachable) where !wantsOffline: return begin()
        case (.online, .unreachable(let error)), (.synchronizing, .unreachable(let error)):
            status.state = .offline
            status.error = error
        case (.synchronizing, .head(true)): return .send
        case (.synchronizing, .head(false)):
            if fetchesAfterPush { return .fetch }
            status.state = .online
        case (.synchronizing, .accepted(let time)):
            recordSync(time)
            return .lookForOperation
        case (.synchronizing, .refused(let conflict)):
            status.state = .syncFailed
            status.conflict = conflict
        case (.synchronizing, .failed(let error)), (.online, .failed(let error)):
            status.state = .syncFailed
            status.error = error
        case (_, .fetched(let time)):
            recordSync(time)
            if status.state == .synchronizing { status.state = .online }
        case (_, .decided): status.conflict = nil
        case (_, .erased):
            // Of what was refused nothing is left, and the network is as it was.
            if status.state == .syncFailed { (status.state, wantsOffline) = (.offline, true) }
            (status.conflict, status.error, status.lastSyncDate) = (nil, nil, nil)
        default: break
        }
        return nil
    }

    private mutating func begin() -> Action {
        status.state = .synchronizing
        status.conflict = nil
        status.error = nil
        return .lookForOperation
    }

    private mutating func recordSync(_ time: Date) { status.lastSyncDate = max(time, status.lastSyncDate ?? time) }
}

/// The status of an ``OfflineSession``.
public struct OfflineStatus: Sendable {
    /// The state.
    public internal(set) var state: OfflineState = .online
    /// The refused operation in ``OfflineState/syncFailed``, until it is resolved.
    public internal(set) var conflict: OfflineConflict?
    /// The reason why the session is offline without a request, or could not synchronize.
    public internal(set) var error: PeerError?
    /// The server's time as of which the data is up to date; `nil` before the first
    /// synchronization.
    public internal(set) var lastSyncDate: Date?
}

/// What an ``OfflineSession`` is doing.
///
///     offline ── goOnline, network is back ──→ synchronizing ── all is sent and fetched ──→ online
///        ↑                                      │      ↑                                       │
///        ├──────── no network, goOffline ───────┤      ├──────────── a change ─────────────────┤
///        │                                      │    goOnline                                  │
///        │                       a refusal ─────┴→ syncFailed                                  │
///        └──────────────────────── no network, goOffline ──────────────────────────────────────┘
public enum OfflineState: String, Sendable, CaseIterable {
    /// Changes are sent to the server immediately, if the session is started. A change that reaches the server after a rival one is
    /// refused as an offline change is (SEMANTICS 170).
    case online = "ONLINE"
    /// Changes stay here, on request or because there is no network.
    case offline = "OFFLINE"
    /// Operations are being sent in order, or changes of others are being fetched.
    case synchronizing = "SYNCHRONIZING"
    /// The server refused an operation. Later operations wait until it is resolved.
    case syncFailed = "SYNC FAILED"
}
