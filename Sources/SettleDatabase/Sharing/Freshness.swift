/// The maximum age of the state that a call reads from a shared storage engine.
///
/// An engine that several processes share checks the current state before it uses cached data. Within
/// ``answering(since:_:)``, a state that was read since its beginning counts as current, so a request checks once and
/// not at each use.
public enum Freshness {
    /// The time at which the request of this thread began; `nil` outside of requests.
    @TaskLocal package static var beginning: ContinuousClock.Instant?

    /// Runs a closure that answers one request. For it, a state that was read since it began is current.
    ///
    /// - Parameters:
    ///   - moment: The time at which the request began, if another thread began it; now by default.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    public static func answering<Result>(
        since moment: ContinuousClock.Instant? = nil, _ body: () throws -> Result
    ) rethrows -> Result {
        try $beginning.withValue(moment ?? .now, operation: body)
    }

    /// Whether a state may be used, given the time at which its reading began.
    public static func accepts(readAt moment: ContinuousClock.Instant) -> Bool {
        beginning.map { moment >= $0 } ?? false
    }
}

/// Records whether the thread produces the rest of an answer of which a part was already sent.
///
/// In this case the client can't be asked to retry anymore, so a store waits longer for its resources.
package enum StartedAnswer {
    @TaskLocal private static var isThere = false

    /// Whether a part of the answer was already sent.
    package static var isUnderWay: Bool { isThere }

    /// Runs a closure that produces a part of an answer.
    ///
    /// - Parameters:
    ///   - hasBegun: Whether a part was already sent.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    package static func producing<Result>(hasBegun: Bool, _ body: () throws -> Result) rethrows -> Result {
        hasBegun ? try $isThere.withValue(true, operation: body) : try body()
    }
}
