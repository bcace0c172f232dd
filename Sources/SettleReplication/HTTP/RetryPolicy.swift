/// When to try again, and how long to wait before.
///
/// Waiting doubles with each try, with some chance in it so that many clients do not come back at once:
///
///     try       1     2     3     4    …   cap
///     seconds   1     2     4     8        300      each between half of it and the whole
///
/// A value without clock and randomness of its own: it says how long, and whoever asks waits.
public struct RetryPolicy: Hashable, Sendable {
    /// How long to wait after the first failure; a second unless set.
    public var base: Duration = .seconds(1)
    /// How long to wait at most; five minutes unless set. A server that asks for more by `Retry-After` gets it, up to a day.
    public var cap: Duration = .seconds(300)
    /// How much of the wait is left to chance, from 0 to 1; half unless set.
    public var jitter = 0.5
    /// How often to try in all; `nil`, the default, for ever.
    public var attempts: Int?

    /// Makes a policy with the defaults.
    public init() {}

    /// The statuses after which the same request may succeed.
    public static let transientStatuses: Set<Int> = [408, 429, 500, 502, 503, 504]

    /// Whether trying again may help: after ``HTTPClientError`` and ``CouchDBError`` that are transient, never after others.
    public static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error.isTransient
        case let error as CouchDBError: error.isTransient
        default: false
        }
    }

    /// How long to wait after a failure; `nil` for giving up.
    ///
    /// - Parameters:
    ///   - error: What went wrong.
    ///   - attempt: How often it was tried by now, from 1.
    ///   - generator: The chance in it.
    /// - Returns: How long to wait.
    public func delay(
        after error: any Error, attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration? {
        guard Self.isTransient(error), attempts.map({ attempt < $0 }) ?? true else { return nil }
        let doublings = Double(1 << min(max(0, attempt - 1), 40))
        let whole = min(base * doublings, cap)
        let share = 1 - min(max(0, jitter), 1) * Double.random(in: 0...1, using: &generator)
        let asked = min((error as? CouchDBError)?.retryAfter ?? .zero, .seconds(86400))
        return max(whole * share, asked)
    }
}
