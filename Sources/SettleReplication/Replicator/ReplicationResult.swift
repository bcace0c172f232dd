package import RevisionTree

/// What a replication has done.
public struct ReplicationResult: Sendable {
    /// The replication's name, under which both sides keep its log: 32 hexadecimal digits.
    public let replicationID: String
    /// What it has done, in numbers.
    public internal(set) var counts = ReplicationCounts()
    /// The position of the source from which it read.
    public internal(set) var start = PeerSequence.start
    /// The position of the source up to which everything is done.
    public internal(set) var end = PeerSequence.start
    /// What was not brought, as of the end.
    public internal(set) var ledger = ReplicationLedger()
    /// What an app should know, oldest first; the first 100.
    public internal(set) var warnings: [ReplicationWarning] = []

    /// The log as it was written last, in CouchDB's format; none where nothing was begun.
    package internal(set) var log: JSON?
    /// Whether there was something new, so that a checkpoint was written.
    package internal(set) var hasWritten = false

    init(replicationID: String) { self.replicationID = replicationID }
}
