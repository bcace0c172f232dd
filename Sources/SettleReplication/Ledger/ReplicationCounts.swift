/// Counts of a replication since it was started.
///
/// Two sums always hold when it has ended: ``revisionsChecked`` = ``revisionsPresent`` + ``revisionsMissing``, and
/// ``revisionsMissing`` = ``revisionsWritten`` + ``revisionsKnown`` + ``revisionsRefused`` + ``revisionsFailed`` +
/// ``revisionsGone``. While it runs, the right side of the second is smaller by the revisions in flight.
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
    /// Missing revisions that the target refused; the ledger lists them.
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
    /// How often a peer was no longer what it was at the last checkpoint, so that documents were compared again
    /// (SEMANTICS 206).
    public var resyncs = 0

    /// Uncounts the revisions in flight when a run ends or restarts: they are counted when they are compared again.
    mutating func takeBackUnfinished() {
        let finished = revisionsWritten + revisionsKnown + revisionsRefused + revisionsFailed + revisionsGone
        let unfinished = max(revisionsMissing - finished, 0)
        revisionsMissing -= unfinished
        revisionsChecked -= unfinished
    }

    /// Creates counts of zero.
    package init() {}
}
