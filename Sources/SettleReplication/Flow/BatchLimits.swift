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
