/// What a replication does that is kept by a server or a database: CouchDB's states, and `paused`.
public enum ReplicationState: String, Sendable, Hashable, CaseIterable {
    /// A server has not read it yet.
    case initializing
    /// It can't be begun, because a like one runs, for example.
    case error
    /// It waits: at a server for its turn, in a database to be started.
    case pending
    /// It runs.
    case running
    /// It failed, or can't reach a peer, and is tried again.
    case crashing
    /// It was one-shot, and has completed.
    case completed
    /// It can never run, because what is stored describes no replication or one that is not allowed.
    case failed
    /// It was paused, and is not started before it is continued.
    case paused
}
