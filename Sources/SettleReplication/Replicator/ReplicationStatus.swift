package import SettleCore

/// The status of a replication (SEMANTICS 104).
public struct ReplicationStatus: Sendable {
    /// The activity of a replication (SEMANTICS 105).
    public enum Mode: String, Sendable, Hashable {
        /// It was not started, has ended, or was stopped.
        case stopped
        /// A peer can't be reached, or its server can't serve at the moment; the replication retries automatically.
        case offline
        /// It is continuous, has nothing left to copy and no conflict left to settle, and waits for changes.
        case idle
        /// It copies documents or looks for changes.
        case active
    }

    /// The activity.
    public internal(set) var mode = Mode.stopped
    /// The number of changed documents that were processed since the replication was last idle or stopped; 0 when
    /// not active (SEMANTICS 106).
    public internal(set) var completed = 0
    /// The number of known changed documents. It grows while the source reports more, and is never less than
    /// ``completed`` (SEMANTICS 107). 0 when not active.
    public internal(set) var total = 0
    /// The number of bytes of bodies and attachments that were written since the start (SEMANTICS 108).
    public internal(set) var bytesWritten: Int64 = 0
    /// The reason why it failed, or can't reach a peer; `nil` again after a success (SEMANTICS 110). Refused documents are not an
    /// error here.
    public internal(set) var error: PeerError?
    /// The number of known conflicts that wait for the policy, or are being settled.
    public var pendingConflicts: Int { queuedConflicts + askedConflicts }
    /// Conflicts of stored revisions.
    var queuedConflicts = 0
    /// Conflicts of revisions that are stored after the policy has decided.
    var askedConflicts = 0
    /// The counts since the start.
    public internal(set) var counts = ReplicationCounts()

    /// The position of the source up to which everything is done.
    package internal(set) var position = PeerSequence.start
    /// The position of the newest checkpoint.
    package internal(set) var checkpointed = PeerSequence.start

    /// Creates the status of a replication that was never started.
    init() {}
}

extension ReplicationStatus: Equatable {
    /// Whether two statuses are equal. Errors are compared by code and message.
    public static func == (left: ReplicationStatus, right: ReplicationStatus) -> Bool {
        left.mode == right.mode && left.completed == right.completed && left.total == right.total
            && left.bytesWritten == right.bytesWritten && left.pendingConflicts == right.pendingConflicts
            && left.counts == right.counts && left.error?.code == right.error?.code
            && left.error?.message == right.error?.message
    }
}

// MARK: - ReplicationCounts

/// Counts of a replication since it was started.
///
/// Two sums always hold at the end: ``revisionsChecked`` = ``revisionsPresent`` + ``revisionsMissing``, and
/// ``revisionsMissing`` = ``revisionsWritten`` + ``revisionsKnown`` + ``revisionsRefused`` + ``revisionsFailed`` +
/// ``revisionsGone``. During a run, the right side of the second sum is smaller by the revisions in progress.
public struct ReplicationCounts: Sendable, Hashable {
    /// Changed documents that the source reported.
    public var changesRead = 0
    /// Changed documents that a filter of this process rejected.
    public var documentsFiltered = 0
    /// Changed documents that no longer pass the filter, and of which the target has an earlier state (SEMANTICS 132).
    public var documentsLeft = 0
    /// Leaves of changed documents that were compared with the target.
    public var revisionsChecked = 0
    /// Leaves that the target had.
    public var revisionsPresent = 0
    /// Leaves that the target lacked.
    public var revisionsMissing = 0
    /// Missing revisions that were read from the source.
    public var revisionsRead = 0
    /// Missing revisions that were written.
    public var revisionsWritten = 0
    /// Missing revisions that the target received from elsewhere meanwhile.
    public var revisionsKnown = 0
    /// Missing revisions that the target refused, or that no database can store; the ledger lists them.
    public var revisionsRefused = 0
    /// Missing revisions that could not be replicated; the ledger lists them, and they are retried.
    public var revisionsFailed = 0
    /// Missing revisions that the source no longer has; the ledger lists them.
    public var revisionsGone = 0
    /// Bytes of the bodies and attachments that were written.
    public var bytesWritten: Int64 = 0
    /// Conflicts that were settled.
    public var conflictsSettled = 0
    /// Conflicts that could not be settled; the ledger lists them.
    public var conflictsFailed = 0
    /// The number of times that a peer had changed its identity since the last checkpoint, so that documents were
    /// compared again (SEMANTICS 206).
    public var resyncs = 0

    /// Subtracts the revisions in progress when a run ends or starts over. They are counted when they are compared
    /// again.
    mutating func uncountUnfinished() {
        let finished = revisionsWritten + revisionsKnown + revisionsRefused + revisionsFailed + revisionsGone
        let unfinished = max(revisionsMissing - finished, 0)
        revisionsMissing -= unfinished
        revisionsChecked -= unfinished
    }

    /// Creates counts of zero.
    package init() {}
}

// MARK: - ReplicationResult

/// The result of a replication.
public struct ReplicationResult: Sendable {
    /// The replication's id: 32 hexadecimal digits. It is empty if the run was stopped before it had reached both
    /// peers.
    public let replicationID: String
    /// The counts of the replication.
    public internal(set) var counts = ReplicationCounts()
    /// The position of the source from which it started.
    public internal(set) var start = PeerSequence.start
    /// The position of the source up to which everything is done.
    public internal(set) var end = PeerSequence.start
    /// The documents that could not be replicated or settled, at the end.
    public internal(set) var ledger = ReplicationLedger()
    /// Non-fatal warnings, oldest first; at most 100.
    public internal(set) var warnings: [ReplicationWarning] = []

    /// The last written log, in CouchDB's format; `nil` if the replication did not get that far.
    package internal(set) var log: JSONValue?
    /// Whether a checkpoint was written, because there was something new.
    package internal(set) var hasWritten = false

    init(replicationID: String) { self.replicationID = replicationID }
}

/// A non-fatal condition that an app should know.
public struct ReplicationWarning: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of warning; more may be added.
    public struct Kind: Hashable, Sendable {
        /// The kind's name.
        public let name: String
        /// A peer is not the one of the last checkpoint, so documents are compared again (SEMANTICS 206).
        public static let resync = Kind(name: "resync")
        /// One side does not allow a log, so only the other side's log is used.
        public static let checkpointOnOneSide = Kind(name: "checkpoint_on_one_side")
        /// No checkpoint could be written; the next run compares documents again.
        public static let checkpointNotWritten = Kind(name: "checkpoint_not_written")
        /// The search for conflicts that existed before has failed; the next start searches again.
        public static let conflictSearchFailed = Kind(name: "conflict_search_failed")
        /// Credentials are sent to another machine over plain HTTP, where an eavesdropper can read them (SEMANTICS
        /// 137).
        public static let credentialsInTheOpen = Kind(name: "credentials_in_the_open")
    }

    /// The kind of warning.
    public let kind: Kind
    /// The event, and its consequence.
    public let message: String

    /// The message.
    public var description: String { message }
}

// MARK: - ReplicationProgress

/// The combined progress of several replications, for one progress bar (SEMANTICS 109).
///
///     let progress = ReplicationProgress([pull.status, push.status])
///     bar.isHidden = !progress.isUnderWay
public struct ReplicationProgress: Sendable, Hashable {
    /// The total number of changed documents that were processed.
    public let completed: Int
    /// The total number of changed documents.
    public let total: Int

    /// Adds up statuses.
    public init(_ statuses: some Sequence<ReplicationStatus>) {
        let sum = statuses.reduce((0, 0)) { ($0.0 + $1.completed, $0.1 + $1.total) }
        (completed, total) = sum
    }

    /// Whether there is progress to show: false if there is nothing to do or everything is done.
    public var isUnderWay: Bool { total > 0 && completed < total }

    /// The completed fraction, from 0 to 1; `nil` if there is nothing to do.
    public var fraction: Double? { total > 0 ? Double(completed) / Double(total) : nil }
}
