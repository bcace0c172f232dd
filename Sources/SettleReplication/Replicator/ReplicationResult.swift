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
        /// Credentials are sent to another machine over plain HTTP, where others can read them (SEMANTICS 137).
        public static let credentialsInTheOpen = Kind(name: "credentials_in_the_open")
    }

    /// The kind of warning.
    public let kind: Kind
    /// What happened, and what it means.
    public let message: String

    /// The message.
    public var description: String { message }
}
