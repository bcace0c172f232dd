public import SettleCore

/// A replication stored in a database; ``Replications/all`` has those that run now.
public struct PersistentReplication: Sendable, Hashable {
    /// Whether the replication should run.
    public enum State: String, Sendable, Hashable {
        /// It is started by ``Replications/resume(credentials:client:configure:)``.
        case active
        /// It was paused.
        case paused
        /// It was one-shot, and has completed.
        case completed
    }

    /// The name under which it is stored.
    public let name: String
    /// The direction.
    public let direction: ReplicationDirection
    /// The peer's address, with the user's name and without the password.
    public let url: HTTPURL
    /// Whether it is continuous.
    public let isContinuous: Bool
    /// Whether it should run.
    public let state: State
    /// Whether the password is stored with it.
    public let hasPassword: Bool
    /// Its filter, as the members `doc_ids`, `selector`, or `filter` and `query_params`; none for all documents.
    public let filter: JSONObject
}
