public import SettleCore
public import SettleDatabase
internal import SettlePlatform

/// The observable state of a replicator, shared by its runs and readers.
final class ReplicatorState: Sendable {
    private struct Shown {
        var status = ReplicationStatus()
        /// Whether the streams of statuses have ended, because the replication was stopped.
        var isOver = false
    }

    private let shown = Guarded(Shown())
    private let ledger = Guarded((kept: true, now: ReplicationLedger()))
    private let warnings = Guarded<[ReplicationWarning]>([])
    private let changes: Broadcast<ReplicationStatus>
    /// The events; a slow reader misses the oldest.
    let events = Broadcast<ReplicationEvent>(buffered: 1000)

    /// Creates the state of a replicator that was never started.
    ///
    /// - Parameter buffered: The number of the newest status changes that are kept for a slow reader.
    init(buffered: Int = 1) { changes = Broadcast(buffered: buffered) }

    /// The current status.
    var currentStatus: ReplicationStatus { shown.withLock(\.status) }

    /// The current status and then each change, until ``endStatuses()``.
    var statuses: AsyncStream<ReplicationStatus> {
        // Under the lock, so that no change is missed or comes before the current status.
        shown.withLock { shown in
            guard !shown.isOver else {
                return AsyncStream { continuation in
                    continuation.yield(shown.status)
                    continuation.finish()
                }
            }
            return changes.listen(first: shown.status)
        }
    }

    /// Changes the status and publishes it if it differs.
    func show(_ change: (inout ReplicationStatus) -> Void) {
        shown.withLock { shown in
            let before = shown.status
            change(&shown.status)
            if shown.status != before { changes.send(shown.status) }
        }
    }

    /// Ends the streams of statuses, and makes new ones end at once until ``beginStatuses()``.
    func endStatuses() {
        shown.withLock { $0.isOver = true }
        changes.finish()
    }

    /// Lets new streams of statuses continue.
    func beginStatuses() { shown.withLock { $0.isOver = false } }

    /// The current ledger.
    var currentLedger: ReplicationLedger { ledger.withLock(\.now) }

    /// Changes the ledger.
    func updateLedger(_ change: (inout ReplicationLedger) -> Void) {
        ledger.withLock { ledger in
            let before = ledger.now
            change(&ledger.now)
            if ledger.now != before { ledger.kept = false }
        }
    }

    /// Takes over the stored ledger, unless the current one is newer.
    func adopt(_ kept: ReplicationLedger) { ledger.withLock { if $0.kept { $0.now = kept } } }

    /// Whether the ledger is empty.
    var ledgerIsEmpty: Bool { ledger.withLock { $0.now.count == 0 } }

    /// The ledger if it differs from the stored one, and so has to be stored; otherwise `nil`.
    var ledgerToKeep: ReplicationLedger? { ledger.withLock { $0.kept ? nil : $0.now } }

    /// Records that a ledger was stored. If the current one has changed since, it still has to be.
    func recordKept(_ stored: ReplicationLedger) { ledger.withLock { if $0.now == stored { $0.kept = true } } }

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
        /// The target has all its revisions.
        case replicated
        /// The target has all its revisions, and its conflict was settled, or kept by the policy.
        case settled(Settlement)
        /// The target has all its revisions, but its conflict could not be settled (SEMANTICS 30).
        case unsettled(DatabaseError)
        /// The target refused a revision, or a revision could not be replicated; ``ReplicationLedger`` has the
        /// reason for each.
        case failed(PeerError)
        /// It no longer passes the filter: it was not replicated, and the target keeps an earlier state of it.
        case left
    }

    /// The direction of the replication.
    public let direction: ReplicationDirection
    /// The document.
    public let documentID: DocumentID
    /// Its revisions that the target lacked; empty for a conflict that existed before.
    public let revisions: [RevisionID]
    /// Whether it is deleted at the source.
    public let isDeleted: Bool
    /// The outcome.
    public let outcome: Outcome

    /// The reason why it failed; `nil` if it did not.
    public var error: (any Error)? {
        switch outcome {
        case .replicated, .settled, .left: nil
        case .unsettled(let error): error
        case .failed(let error): error
        }
    }
}

// MARK: - Broadcast

/// Sends each element to all listeners. Each listener has a buffer of the newest elements.
final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
        var next = 0
    }

    private let state = Guarded(State())
    private let buffered: Int

    init(buffered: Int) { self.buffered = buffered }

    /// Whether there are listeners.
    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    /// Adds a listener, optionally with a first element.
    func listen(first: Element? = nil) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self, bufferingPolicy: .bufferingNewest(buffered))
        if let first { continuation.yield(first) }
        let number = state.withLock { state in
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Sends an element.
    func send(_ element: Element) {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield(element) }
    }

    /// Ends the streams of all listeners.
    func finish() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    deinit { finish() }
}
