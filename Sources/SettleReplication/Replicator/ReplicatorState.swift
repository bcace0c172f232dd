internal import RevisionTree
internal import SettleDatabase
internal import SettlePlatform

/// What a replicator shows, shared by its runs and its readers.
final class ReplicatorState: Sendable {
    private let status = Guarded(ReplicationStatus())
    private let ledger = Guarded((kept: true, now: ReplicationLedger()))
    private let warnings = Guarded<[ReplicationWarning]>([])
    /// Statuses as they change; who is slow sees the newest.
    let statuses = Broadcast<ReplicationStatus>(buffered: 1)
    /// Events as they happen; who is slow misses the oldest.
    let events = Broadcast<ReplicationEvent>(buffered: 1000)

    /// The status now.
    var currentStatus: ReplicationStatus { status.withLock(\.self) }

    /// Shows another status, if it is another.
    func show(_ change: (inout ReplicationStatus) -> Void) {
        let changed = status.withLock { status -> ReplicationStatus? in
            let before = status
            change(&status)
            return status == before ? nil : status
        }
        if let changed { statuses.send(changed) }
    }

    /// The ledger now.
    var currentLedger: ReplicationLedger { ledger.withLock(\.now) }

    /// Changes the ledger.
    func note(_ change: (inout ReplicationLedger) -> Void) {
        ledger.withLock { ledger in
            let before = ledger.now
            change(&ledger.now)
            if ledger.now != before { ledger.kept = false }
        }
    }

    /// Takes the ledger as it is kept, unless there is a newer one here.
    func take(_ kept: ReplicationLedger) { ledger.withLock { if $0.kept { $0.now = kept } } }

    /// Whether nothing is listed.
    var ledgerIsEmpty: Bool { ledger.withLock { $0.now.count == 0 } }

    /// The ledger, if it has changed since it was last asked for here, so that it is to be kept.
    func ledgerToKeep() -> ReplicationLedger? {
        ledger.withLock { ledger in
            defer { ledger.kept = true }
            return ledger.kept ? nil : ledger.now
        }
    }

    /// The warnings of this run, the first 100.
    var currentWarnings: [ReplicationWarning] { warnings.withLock(\.self) }

    /// Forgets what the last run said.
    func forgetWarnings() { warnings.withLock { $0 = [] } }

    /// Warns those who listen.
    func warn(_ kind: ReplicationWarning.Kind, _ message: String) {
        let warning = ReplicationWarning(kind: kind, message: message)
        warnings.withLock { if $0.count < 100 { $0.append(warning) } }
        events.send(.warning(warning))
    }
}
