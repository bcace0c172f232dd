internal import Synchronization

/// Bounds the work of evaluating a selector, in steps.
///
/// A step takes a few nanoseconds: a pattern takes one for each of its own, a condition ten, a comparison twenty. Steps are counted
/// and not timed, so the same selector and document always have the same result. When all steps are spent, conditions don't match.
package final class SelectorWork: Sendable {
    /// The steps of one document, unless a query counts those of all its documents.
    package static let document = 10_000_000
    static let condition = 10
    static let comparison = 20

    private let left: Atomic<Int>
    private let isWanted: @Sendable () -> Bool

    /// - Parameters:
    ///   - steps: The number of steps that may be taken.
    ///   - isWanted: Whether a client still waits for the result; if not, the steps count as spent.
    package init(_ steps: Int, isWanted: @escaping @Sendable () -> Bool = { true }) {
        left = Atomic(steps)
        self.isWanted = isWanted
    }

    /// Whether all steps are spent.
    package var isSpent: Bool { available <= 0 }

    /// The number of steps that are left.
    var available: Int { left.load(ordering: .relaxed) }

    /// Prepares for a search, which may take long.
    ///
    /// - Returns: Whether there are steps for it.
    func begin() -> Bool {
        if !isWanted() { left.store(0, ordering: .relaxed) }
        return !isSpent
    }

    /// Takes steps.
    ///
    /// - Returns: Whether there were enough; otherwise all are spent now.
    func take(_ steps: Int) -> Bool {
        let before = available
        let rest = before.subtractingReportingOverflow(steps)
        left.store(rest.overflow ? 0 : max(rest.partialValue, 0), ordering: .relaxed)
        return !rest.overflow && rest.partialValue > 0
    }
}
