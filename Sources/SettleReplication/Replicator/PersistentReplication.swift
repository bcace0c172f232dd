public import RevisionTree

/// A replication that a database keeps, as it is written down; whether it runs now, ``Replications/all`` tells.
public struct PersistentReplication: Sendable, Hashable {
    /// What is to be done with it.
    public enum State: String, Sendable, Hashable {
        /// It is started by ``Replications/resume(credentials:client:configure:)``.
        case active
        /// It was told to wait.
        case paused
        /// It was not continuous, and is done.
        case completed
    }

    /// The name under which it is kept.
    public let name: String
    /// Which way documents go.
    public let direction: ReplicationDirection
    /// The other side, with the user's name and without the password.
    public let url: HTTPURL
    /// Whether it goes on for ever.
    public let isContinuous: Bool
    /// What is to be done with it.
    public let state: State
    /// Whether the password is kept with it.
    public let hasPassword: Bool
    /// Which documents take part, as the members `doc_ids`, `selector`, or `filter` and `query_params` say; none for all.
    public let filter: JSONObject
}
