package import SettleCore

/// The result of a replication.
public struct ReplicationResult: Sendable {
    /// The replication's id: 32 hexadecimal digits.
    public let replicationID: String
    /// Counts of what it did.
    public internal(set) var counts = ReplicationCounts()
    /// The position of the source from which it started.
    public internal(set) var start = PeerSequence.start
    /// The position of the source up to which everything is done.
    public internal(set) var end = PeerSequence.start
    /// The documents that could not be replicated, as of the end.
    public internal(set) var ledger = ReplicationLedger()
    /// Non-fatal warnings, oldest first; at most 100.
    public internal(set) var warnings: [ReplicationWarning] = []

    /// The last written log, in CouchDB's format; `nil` if the replication did not get that far.
    package internal(set) var log: JSON?
    /// Whether a checkpoint was written, because there was something new.
    package internal(set) var hasWritten = false

    init(replicationID: String) { self.replicationID = replicationID }
}
