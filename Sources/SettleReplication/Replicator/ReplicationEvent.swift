/// An event of a replication that an app may want to show.
public enum ReplicationEvent: Sendable {
    /// The outcome of a document: one event per attempt, after its conflict was settled if it has one (SEMANTICS 33).
    case document(DocumentReplication)
    /// A non-fatal warning.
    case warning(ReplicationWarning)
}
