public import SettleCore
public import SettleDatabase
internal import SettlePlatform

/// The observable state of a replicator, shared by its runs and readers.
final class ReplicatorState: Sendable {
    private let status = Guarded(ReplicationStatus())
    private let ledger = Guarded((kept: true, now: ReplicationLedger()))
    private let warnings = Guarded<[ReplicationWarning]>([])
    /// Status changes; a slow reader gets the newest.
    let statuses = Broadcast<ReplicationStatus>(buffered: 1)
    /// Events; a slow reader misses the oldest.
    let events = Broadcast<ReplicationEvent>(buffered: 1000)

    /// The current status.
    var currentStatus: ReplicationStatus { status.withLock(\.self) }

    /// Changes the status and publishes it if it differs.
    func show(_ change: (inout ReplicationStatus) -> Void) {
        let changed = status.withLock { status -> ReplicationStatus? in
            let before = status
            change(&status)
            return status == before ? nil : status
        }
        if let changed { statuses.send(changed) }
    }

    /// The current ledger.
    var currentLedger: ReplicationLedger { ledger.withLock(\.now) }

    /// Changes the ledger.
    func note(_ change: (inout ReplicationLedger) -> Void) {
        ledger.withLock { ledger in
            let before = ledger.now
            change(&ledger.now)
            if ledger.now != before { ledger.kept = false }
        }
    }

    /// Loads the stored ledger, unless there is a newer one here.
    func take(_ kept: ReplicationLedger) { ledger.withLock { if $0.kept { $0.now = kept } } }

    /// Whether the ledger is empty.
    var ledgerIsEmpty: Bool { ledger.withLock { $0.now.count == 0 } }

    /// The ledger, if it has changed since the last call, so that it has to be stored.
    func ledgerToKeep() -> ReplicationLedger? {
        ledger.withLock { ledger in
            defer { ledger.kept = true }
            return ledger.kept ? nil : ledger.now
        }
    }

    /// The warnings of this run, at most 100.
    var currentWarnings: [ReplicationWarning] { warnings.withLock(\.self) }

    /// Removes the warnings of the last run.
    func forgetWarnings() { warnings.withLock { $0 = [] } }

    /// Publishes a warning.
    func warn(_ kind: ReplicationWarning.Kind, _ message: String) {
        let warning = ReplicationWarning(kind: kind, message: message)
        warnings.withLock { if $0.count < 100 { $0.append(warning) } }
        events.send(.warning(warning))
    }
}

/// An event of a replication that an app may want to show.
public enum ReplicationEvent: Sendable {
    /// The outcome of a document: one event per attempt, after its conflict was settled if it has one (SEMANTICS 33).
    case document(DocumentReplication)
    /// A non-fatal warning.
    case warning(ReplicationWarning)
}

/// The outcome of one attempt to replicate a document.
public struct DocumentReplication: Sendable {
    /// The outcome of a document.
    public enum Outcome: Sendable {
        /// The target has all of it.
        case replicated
        /// The target has all of it, and its conflict was settled, or left to the policy's choice.
        case settled(Settlement)
        /// The target has all of it, and its conflict could not be settled (SEMANTICS 30).
        case unsettled(DatabaseError)
        /// The target refused some of it, or it could not be replicated; ``ReplicationLedger`` has the reason for each
        /// revision.
        case failed(PeerError)
        /// It no longer passes the filter: it was not replicated, and the target keeps an earlier state of it.
        case left
    }

    /// The direction of the replication.
    public let direction: ReplicationDirection
    /// The document.
    public let documentID: DocumentID
    /// Its revisions that the target lacked; none for an existing conflict.
    public let revisions: [RevisionID]
    /// Whether it is deleted at the source.
    public let isDeleted: Bool
    /// The outcome.
    public let outcome: Outcome

    /// Why it failed; `nil` if it did not.
    public var error: (any Error)? {
        switch outcome {
        case .replicated, .settled, .left: nil
        case .unsettled(let error): error
        case .failed(let error): error
        }
    }
}
