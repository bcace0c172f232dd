/// Something that happened in a replication and that an app may want to show.
public enum ReplicationEvent: Sendable {
    /// What became of a document: one event for each attempt, after its conflict was settled if it has one
    /// (SEMANTICS 33).
    case document(DocumentReplication)
    /// Something that an app should know though nothing failed.
    case warning(ReplicationWarning)
}
