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
