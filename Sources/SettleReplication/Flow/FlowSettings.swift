internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The settings of a flow, which are fixed at its start.
struct FlowSettings: Sendable {
    /// The position at which the flow starts.
    var start: PeerSequence
    /// The source's newest position at the start, where a one-shot replication may end.
    var end: PeerSequence
    /// Whether the target had no document at the start.
    var isTargetEmpty = false
    /// Whether the flow continues indefinitely.
    var isContinuous = false
    /// The documents to replicate.
    var filter = ReplicationFilter.all
    /// Whether only the source's winners are replicated.
    var hasOnlyWinners = false
    /// The limits on the work in progress.
    var limits = BatchLimits()
    /// The rules for retrying.
    var retry = ReplicationRetryPolicy()
    /// Whether a refused document holds the checkpoint. It does in a push, where the app may fix the document
    /// (SEMANTICS 112). In a pull the document is listed and passed (117).
    var holdsRefused = false
    /// The maximum time of one wait for changes.
    var longestWait = Duration.seconds(60)

    /// Whether the target lacks changes for certain, unless another client has stored them there since: it was empty at the start, and
    /// they are older. Later ones may have come from it.
    func areMissing(_ changes: [ChangedDocument]) -> Bool {
        guard isTargetEmpty, case .number = end.json, let end = end.number else { return false }
        return changes.allSatisfy { $0.sequence.number.map { $0 <= end } ?? false }
    }
}

/// Limits on the work in progress of a replication. A limit below 1 counts as 1, and a very high one as 2^30, or for
/// bytes as 2^50.
public struct BatchLimits: Sendable, Hashable {
    /// The number of changes that are read per request; 1000 by default.
    public var changes = 1000
    /// The maximum number of revisions fetched per request; 1000 by default. It is lowered if responses take long.
    public var revisions = 1000
    /// The maximum number of bytes of revisions in memory, 8 MiB by default; a single larger revision is allowed.
    public var bytes = 8 * 1024 * 1024
    /// The maximum number of concurrent requests for revisions; 3 by default.
    public var fetches = 3
    /// The number of batches that are stored concurrently; 2 by default.
    public var stores = 2

    /// Creates limits with the defaults.
    public init() {}

    /// The limits, at least 1 and low enough that arithmetic can't overflow.
    var bounded: BatchLimits {
        func number(_ limit: Int) -> Int { min(max(limit, 1), 1 << 30) }
        var copy = self
        (copy.changes, copy.revisions, copy.bytes) = (number(changes), number(revisions), min(max(bytes, 1), 1 << 50))
        (copy.fetches, copy.stores) = (number(fetches), number(stores))
        return copy
    }
}

/// When failed calls are retried.
///
/// Delays double with each failure, and each is shortened at random by up to half, so that clients that lost a
/// server at the same time do not return together. A peer's `Retry-After` is respected.
public struct ReplicationRetryPolicy: Sendable, Hashable {
    /// The first delay; half a second by default.
    public var firstDelay: Duration = .milliseconds(500)
    /// The longest delay; five minutes by default. A longer `Retry-After` of the peer is respected, up to a day.
    public var maximumDelay: Duration = .seconds(300)
    /// The maximum number of consecutive attempts that a one-shot replication makes at a call; 6 by default. A
    /// continuous one retries transient errors indefinitely.
    public var attempts = 6
    /// The number of times that a document that could not be replicated is retried immediately; 2 by default.
    public var documentRetries = 2
    /// The time after which a continuous replication retries documents that could not be replicated; a minute by
    /// default (SEMANTICS 111).
    public var failedDocumentsDelay: Duration = .seconds(60)

    /// Creates a policy with the defaults.
    public init() {}

    /// The delay before the next attempt.
    ///
    /// - Parameters:
    ///   - failures: The number of consecutive failures of the call, at least 1.
    ///   - jitter: A random number from 0 to 1.
    ///   - retryAfter: The delay that the peer asked for.
    /// - Returns: The delay.
    package func delay(after failures: Int, jitter: Double, retryAfter: Duration?) -> Duration {
        let doubled = firstDelay.bounded * (1 << min(max(failures - 1, 0), 20))
        let delay = min(doubled, maximumDelay.bounded) * (1 - jitter / 2)
        return max(delay, min(retryAfter ?? .zero, .seconds(86400)))
    }
}
