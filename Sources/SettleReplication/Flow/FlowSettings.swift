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

/// Limits on the work in flight of a replication.
public struct BatchLimits: Sendable, Hashable {
    /// How many changes are read per request; 1000 unless set.
    public var changes = 1000
    /// The maximum number of revisions fetched per request; 1000 unless set. It is lowered if responses take long.
    public var revisions = 1000
    /// The maximum number of bytes of revisions in memory, 8 MiB unless set; a single larger revision is allowed.
    public var bytes = 8 * 1024 * 1024
    /// How many requests for revisions run concurrently; 3 unless set.
    public var fetches = 3
    /// How many batches are stored concurrently; 2 unless set.
    public var stores = 2

    /// Creates limits with the defaults.
    public init() {}
}
