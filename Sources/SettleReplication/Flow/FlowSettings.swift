/// What a flow is given at its begin and that never changes.
struct FlowSettings: Sendable {
    /// Where it begins.
    var start: PeerSequence
    /// The source's newest position when it began, where a one-shot replication may end.
    var end: PeerSequence
    /// Whether it goes on for ever.
    var isContinuous = false
    /// Which documents take part.
    var filter = ReplicationFilter.all
    /// How much is on its way.
    var limits = BatchLimits()
    /// What is tried again, and when.
    var retry = RetryPolicy()
    /// Whether a refused document holds the checkpoint: in a push, where the app may mend it (SEMANTICS 112); in a pull it
    /// is listed and passed (117).
    var holdsRefused = false
    /// How long to wait for changes at a time.
    var longestWait = Duration.seconds(60)
}
