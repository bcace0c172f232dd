/// The status of a replication (SEMANTICS 104).
public struct ReplicationStatus: Sendable {
    /// The activity of a replication (SEMANTICS 105).
    public enum Mode: String, Sendable, Hashable {
        /// It was not started, has ended, or was stopped.
        case stopped
        /// A peer can't be reached; the replication retries automatically.
        case offline
        /// It is continuous, has nothing left to copy and no conflict left to settle, and waits for changes.
        case idle
        /// It copies documents or looks for changes.
        case active
    }

    /// The activity.
    public internal(set) var mode = Mode.stopped
    /// How many changed documents are done since it was last idle or stopped; 0 when not active (SEMANTICS 106).
    public internal(set) var completed = 0
    /// How many changed documents are known; it grows while the source reports more, and is never less than
    /// ``completed`` (SEMANTICS 107). 0 when not active.
    public internal(set) var total = 0
    /// How many bytes of bodies and attachments were written since it was started (SEMANTICS 108).
    public internal(set) var bytesWritten: Int64 = 0
    /// Why it failed, or can't reach a peer; `nil` again after a success (SEMANTICS 110). Refused documents are not an
    /// error here.
    public internal(set) var error: PeerError?
    /// How many known conflicts wait for the policy, or are being settled.
    public var pendingConflicts: Int { queuedConflicts + askedConflicts }
    /// Those of stored revisions.
    var queuedConflicts = 0
    /// Those of revisions that are stored when the policy has decided.
    var askedConflicts = 0
    /// Counts since it was started.
    public internal(set) var counts = ReplicationCounts()

    /// The position of the source up to which everything is done.
    package internal(set) var position = PeerSequence.start
    /// The position of the newest checkpoint.
    package internal(set) var checkpointed = PeerSequence.start

    /// Creates the status of a replication that was never started.
    init() {}
}

extension ReplicationStatus: Equatable {
    /// Whether both are equal; errors are compared by code and message.
    public static func == (left: ReplicationStatus, right: ReplicationStatus) -> Bool {
        left.mode == right.mode && left.completed == right.completed && left.total == right.total
            && left.bytesWritten == right.bytesWritten && left.pendingConflicts == right.pendingConflicts
            && left.counts == right.counts && left.error?.code == right.error?.code
            && left.error?.message == right.error?.message
    }
}
