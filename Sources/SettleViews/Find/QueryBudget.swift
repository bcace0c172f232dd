internal import SettleDatabase
internal import SettlePlatform

/// The limits of one query's work, from its first document to its last: steps of its selector, and processor time.
///
/// Time on the clock doesn't count, so a busy machine ends no query that a quiet one would answer.
package final class QueryBudget: Sendable {
    /// Enough for what a program asks of its own database.
    package static let unlimited = QueryBudget(steps: .max, seconds: .infinity)

    /// The steps that are left.
    let work: SelectorWork
    private let limit: Double
    private let isWanted: @Sendable () -> Bool
    private let spent = Guarded(0.0)

    /// - Parameters:
    ///   - steps: The steps of the selector, see ``SelectorWork``.
    ///   - seconds: The time of a processor.
    ///   - isWanted: Whether a client still waits for the result.
    package init(steps: Int, seconds: Double, isWanted: @escaping @Sendable () -> Bool = { true }) {
        work = SelectorWork(steps, isWanted: isWanted)
        limit = seconds
        self.isWanted = isWanted
    }

    /// Begins a part of the query on this thread; ``end(_:)`` gets what it returns.
    func begin() -> Double { limit.isFinite ? Self.threadSeconds : 0 }

    /// Ends the part.
    func end(_ start: Double) {
        guard limit.isFinite else { return }
        let seconds = Self.threadSeconds - start
        spent.withLock { $0 += seconds }
    }

    /// Checks the steps, and whether the result is wanted; cheap enough for each document.
    ///
    /// - Throws: ``QueryError`` with code `tooExpensive`; `CancellationError` if no client waits for the result.
    func check() throws {
        guard isWanted() else { throw CancellationError() }
        if work.isSpent { throw Self.tooExpensive }
    }

    /// Checks all, during a part that has begun.
    ///
    /// - Throws: As ``check()`` does.
    func check(_ start: Double) throws {
        try check()
        guard limit.isFinite else { return }
        if spent.withLock({ $0 }) + Self.threadSeconds - start > limit { throw Self.tooExpensive }
    }

    private static var tooExpensive: QueryError {
        QueryError(
            .tooExpensive,
            "The query takes more work than one query may. An index, fewer documents or a simpler pattern helps.")
    }

    private static var threadSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
