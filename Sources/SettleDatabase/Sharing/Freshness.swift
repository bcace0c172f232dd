/// How old the state of a shared storage engine may be that a call believes.
///
/// An engine that several processes share asks for the state before anything kept in memory is used. Within
/// ``answering(_:)``, what was read since its beginning counts as current, so a request asks once and not at each use.
public enum Freshness {
    @TaskLocal private static var beginning: ContinuousClock.Instant?

    /// Runs a closure that answers one request: a state that was read since it began is current for it.
    public static func answering<Result>(_ body: () throws -> Result) rethrows -> Result {
        try $beginning.withValue(.now, operation: body)
    }

    /// Whether a state may be used whose reading began at a moment.
    public static func accepts(readAt moment: ContinuousClock.Instant) -> Bool {
        beginning.map { moment >= $0 } ?? false
    }
}

/// Whether the thread produces the rest of an answer of which a part was sent.
///
/// It is too late to ask the client to try again, so a store waits longer for what it needs.
package enum StartedAnswer {
    @TaskLocal private static var isThere = false

    /// Whether a part of the answer was sent.
    package static var isUnderWay: Bool { isThere }

    /// Runs a closure that produces a part of an answer.
    ///
    /// - Parameters:
    ///   - hasBegun: Whether a part was sent.
    ///   - body: The closure.
    /// - Returns: What the closure returns.
    package static func producing<Result>(hasBegun: Bool, _ body: () throws -> Result) rethrows -> Result {
        hasBegun ? try $isThere.withValue(true, operation: body) : try body()
    }
}
