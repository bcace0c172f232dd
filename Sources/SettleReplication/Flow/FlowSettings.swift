/// What a flow is given at its begin and that never changes.
struct FlowSettings: Sendable {
    /// The place where it begins.
    var start: PeerSequence
    /// The source's newest position when it began, where a one-shot replication may end.
    var end: PeerSequence
    /// Whether it goes on for ever.
    var isContinuous = false
    /// Which documents take part.
    var filter = ReplicationFilter.all
    /// Whether only the source's winners take part.
    var hasOnlyWinners = false
    /// How much is on its way.
    var limits = BatchLimits()
    /// What is tried again, and when.
    var retry = ReplicationRetryPolicy()
    /// Whether a refused document holds the checkpoint: in a push, where the app may mend it (SEMANTICS 112); in a pull it
    /// is listed and passed (117).
    var holdsRefused = false
    /// The time to wait for changes at a time.
    var longestWait = Duration.seconds(60)
}

/// Limits on the work in flight of a replication.
public struct BatchLimits: Sendable, Hashable {
    /// The number of changes that are read per request; 1000 by default.
    public var changes = 1000
    /// The maximum number of revisions fetched per request; 1000 by default. It is lowered if responses take long.
    public var revisions = 1000
    /// The maximum number of bytes of revisions in memory, 8 MiB by default; a single larger revision is allowed.
    public var bytes = 8 * 1024 * 1024
    /// How many requests for revisions run concurrently; 3 by default.
    public var fetches = 3
    /// The number of batches that are stored concurrently; 2 by default.
    public var stores = 2

    /// Creates limits with the defaults.
    public init() {}
}

/// When failed calls are retried.
///
/// Delays double, and each is shortened at random by up to half, so that clients that lost a server at the same time do
/// not return together. A peer's `Retry-After` is respected.
public struct ReplicationRetryPolicy: Sendable, Hashable {
    /// The first delay; half a second by default.
    public var firstDelay: Duration = .milliseconds(500)
    /// The longest delay; five minutes by default. A longer `Retry-After` of the peer is respected, up to a day.
    public var maximumDelay: Duration = .seconds(300)
    /// How many attempts in a row a one-shot replication makes at a call before it fails; 6 by default. A continuous
    /// one retries transient errors indefinitely.
    public var attempts = 6
    /// The number of times that a document that could not be replicated is retried immediately; 2 by default.
    public var documentRetries = 2
    /// The time that a continuous replication waits before it retries documents that could not be replicated; a minute
    /// unless set (SEMANTICS 111).
    public var failedDocumentsDelay: Duration = .seconds(60)

    /// Creates a policy with the defaults.
    public init() {}

    /// The delay before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: How often the call has failed in a row, from 1.
    ///   - jitter: A random number from 0 to 1.
    ///   - retryAfter: The delay that the peer asked for.
    /// - Returns: The delay.
    package func delay(after failures: Int, jitter: Double, retryAfter: Duration?) -> Duration {
        let doubled = firstDelay * (1 << min(max(failures - 1, 0), 20))
        let delay = min(doubled, maximumDelay) * (1 - jitter / 2)
        return max(delay, min(retryAfter ?? .zero, .seconds(86400)))
    }
}
