/// When failed calls are retried.
///
/// Delays double, and each is shortened at random by up to half, so that clients that lost a server at the same time do
/// not return together. A peer's `Retry-After` is respected.
public struct RetryPolicy: Sendable, Hashable {
    /// The first delay; half a second unless set.
    public var firstDelay: Duration = .milliseconds(500)
    /// The longest delay; five minutes unless set. A longer `Retry-After` of the peer is respected, up to a day.
    public var maximumDelay: Duration = .seconds(300)
    /// How many attempts in a row a one-shot replication makes at a call before it fails; 6 unless set. A continuous
    /// one retries transient errors indefinitely.
    public var attempts = 6
    /// How often a document that could not be replicated is retried immediately; 2 unless set.
    public var documentRetries = 2
    /// How long a continuous replication waits before it retries documents that could not be replicated; a minute
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
