/// How much of a replication is on its way at the same time.
public struct BatchLimits: Sendable, Hashable {
    /// How many changes are read at once; 1000 unless set.
    public var changes = 1000
    /// The most revisions that are fetched at once; 1000 unless set. Fewer are, when an answer takes long.
    public var revisions = 1000
    /// How many bytes of revisions are in memory at the most, 8 MiB unless set; one revision that is larger passes alone.
    public var bytes = 8 * 1024 * 1024
    /// How many requests for revisions are under way at the same time; 3 unless set.
    public var fetches = 3
    /// How many batches are being stored at the same time; 2 unless set.
    public var stores = 2

    /// Makes limits with the defaults.
    public init() {}
}
