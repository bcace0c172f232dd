#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The rules of an offline session: a value that receives events and returns the next action.
///
/// There is at most one action at a time, and the session completes it before it reports the next event. Operations
/// are sent in order, and the first refusal stops that; later operations wait (SEMANTICS 176, 179).
struct OfflineMachine: Sendable {
    /// An event in the session.
    enum Event: Sendable {
        /// The app wants to be online, or to try again.
        case goOnline
        /// The app wants to be offline.
        case goOffline
        /// The journal has an operation.
        case changed
        /// The server has changes.
        case serverChanged
        /// The network is available again.
        case reachable
        /// The server could not be reached, or the database is suspended or busy.
        case unreachable(PeerError)
        /// The result of reading the journal's first operation: whether there is one.
        case head(Bool)
        /// The server accepted the operation that was sent.
        case accepted(at: Date)
        /// The server refused the operation that was sent.
        case refused(OfflineConflict)
        /// All changes of the server were fetched.
        case fetched(at: Date)
        /// The session can't continue, for another reason than the network.
        case failed(PeerError)
        /// The refused operation was resolved or reverted.
        case decided
        /// All local documents were erased.
        case erased
    }

    /// An action for the session.
    enum Action: Sendable, Equatable {
        /// Read the journal's first operation.
        case lookForOperation
        /// Send that operation.
        case send
        /// Fetch the changes of other clients.
        case fetch
    }

    private(set) var status = OfflineStatus()
    /// Whether the app wants to be offline, so that only the app ends that.
    private(set) var wantsOffline = false
    /// Whether to fetch the changes of other clients after everything was sent.
    let fetchesAfterPush: Bool

    init(fetchesAfterPush: Bool, lastSyncDate: Date?, isOnline: Bool) {
        self.fetchesAfterPush = fetchesAfterPush
        status.lastSyncDate = lastSyncDate
        status.state = isOnline ? .online : .offline
        wantsOffline = !isOnline
    }

    /// Handles an event; returns the next action, or `nil` for none.
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
            // The refused operation is erased, and the network has not changed.
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
    /// The reason why the session went offline by itself, or could not synchronize.
    public internal(set) var error: PeerError?
    /// The server's time as of which the data is up to date; `nil` before the first
    /// synchronization.
    public internal(set) var lastSyncDate: Date?
}

/// The state of an ``OfflineSession``.
///
///     offline ── goOnline, network is back ──→ synchronizing ── all is sent and fetched ──→ online
///        ↑                                      │      ↑                                       │
///        ├──────── no network, goOffline ───────┤      ├──────────── a change ─────────────────┤
///        │                                      │    goOnline                                  │
///        │                       a refusal ─────┴→ syncFailed                                  │
///        └──────────────────────── no network, goOffline ──────────────────────────────────────┘
public enum OfflineState: String, Sendable, CaseIterable {
    /// If the session is started, changes are sent to the server immediately. A change that arrives after a
    /// competing one is refused like an offline change (SEMANTICS 170).
    case online = "ONLINE"
    /// Changes stay local, on request, because there is no network, or because the database is suspended.
    case offline = "OFFLINE"
    /// Operations are being sent in order, or changes of other clients are being fetched.
    case synchronizing = "SYNCHRONIZING"
    /// The server refused an operation. Later operations wait until it is resolved.
    case syncFailed = "SYNC FAILED"
}
