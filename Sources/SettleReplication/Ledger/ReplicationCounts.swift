/// What a replication has done since it was started, in numbers.
///
/// Two sums always hold when it has ended: ``revisionsChecked`` = ``revisionsPresent`` + ``revisionsMissing``, and
/// ``revisionsMissing`` = ``revisionsWritten`` + ``revisionsKnown`` + ``revisionsRefused`` + ``revisionsFailed`` +
/// ``revisionsGone``. While it runs, the second one's right side is smaller by what is on its way.
public struct ReplicationCounts: Sendable, Hashable {
    /// Changed documents that the source told of.
    public var changesRead = 0
    /// Changed documents that a filter of this process did not pass.
    public var documentsFiltered = 0
    /// Those of them that the target has in an earlier state, which passed (SEMANTICS 132).
    public var documentsLeft = 0
    /// Leaves of changed documents that the target was asked about.
    public var revisionsChecked = 0
    /// Those that the target had.
    public var revisionsPresent = 0
    /// Those that it had not.
    public var revisionsMissing = 0
    /// Missing ones that were read from the source.
    public var revisionsRead = 0
    /// Missing ones that were written.
    public var revisionsWritten = 0
    /// Missing ones that came to the target by another way meanwhile.
    public var revisionsKnown = 0
    /// Missing ones that the target will not have; the ledger lists them.
    public var revisionsRefused = 0
    /// Missing ones that could not be brought; the ledger lists them, and they are tried again.
    public var revisionsFailed = 0
    /// Missing ones that the source has no more; the ledger lists them.
    public var revisionsGone = 0
    /// Bytes of the bodies and attachments that were written.
    public var bytesWritten: Int64 = 0
    /// Conflicts that were settled.
    public var conflictsSettled = 0
    /// Conflicts that could not be settled; the ledger lists them.
    public var conflictsFailed = 0
    /// How often a peer was not what it was at the last checkpoint, so that documents were compared again (SEMANTICS 206).
    public var resyncs = 0

    /// Takes back what was on its way when a run ended or began anew: it is counted when it is compared again.
    mutating func takeBackUnfinished() {
        let finished = revisionsWritten + revisionsKnown + revisionsRefused + revisionsFailed + revisionsGone
        let unfinished = max(revisionsMissing - finished, 0)
        revisionsMissing -= unfinished
        revisionsChecked -= unfinished
    }

    /// Makes counts of nothing.
    public init() {}
}
