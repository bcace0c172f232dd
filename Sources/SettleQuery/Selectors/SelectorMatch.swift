internal import SettleCore
internal import Synchronization

/// Evaluates a normalized selector on one value.
///
///   - A missing member matches only `$exists: false`; a path through a value that is not an object or array does not
///     match even that.
///   - Values are compared by ``Collation``, those of `_id` by ``ErlangOrder``.
///   - If CouchDB would fail (`$mod` by zero, `$nor` inside of elements), the enclosing `$elemMatch` or similar
///     does not match; without an enclosing operator, the whole selector does not match.
///   - When the steps of ``SelectorWork`` are spent, the whole selector does not match.
struct SelectorMatch {
    /// CouchDB's response would be an internal error.
    struct Failure: Error {}

    /// Whether values are compared like ids.
    private var comparesIDs = false
    let work: SelectorWork

    init(work: SelectorWork) { self.work = work }

    /// Whether a value matches.
    ///
    /// - Throws: ``Failure`` if CouchDB would fail.
    func matches(_ node: SelectorNode, _ value: JSONValue) throws(Failure) -> Bool {
        guard work.spend(SelectorWork.condition) else { throw Failure() }
        switch node {
        case .all(let nodes):
            for node in nodes where try !matches(node, value) { return false }
            return true
        case .any(let nodes):
            for node in nodes where try matches(node, value) { return true }
            return nodes.isEmpty
        case .not(let node): return try !matches(node, value)
        case .at(let path, let node): return try matches(node, at: path, in: value)
        case .each(let row, let node):
            do throws(Failure) { return try row.matches(node, partsOf: value, self) } catch { return false }
        case .test(let test): return try test.passes(value, self)
        // Only a search index can evaluate it.
        case .none, .member, .text, .misplaced: throw Failure()
        }
    }

    /// Compares two values.
    func order(_ left: JSONValue, _ right: JSONValue) -> Collation.Order {
        comparesIDs ? ErlangOrder.compare(left, right) : Collation.compare(left, right)
    }

    private func matches(_ node: SelectorNode, at path: SelectorPath, in value: JSONValue) throws(Failure) -> Bool {
        guard path.names != nil else { throw Failure() }
        switch path.destination(in: value) {
        case .missing:
            guard case .test(let test) = node else { return false }
            return test.acceptsMissing
        case .astray: return false
        case .value(let member):
            var inner = self
            if path.isID { inner.comparesIDs = true }
            return try inner.matches(node, member)
        }
    }

    /// Spends the steps for comparing each of `left` values with each of `right` values.
    func spend(comparing left: Int, with right: Int) throws(Failure) {
        let (count, overflows) = left.multipliedReportingOverflow(by: right)
        let (steps, overflowsToo) = count.multipliedReportingOverflow(by: SelectorWork.comparison)
        guard !overflows, !overflowsToo, work.spend(steps) else { throw Failure() }
    }
}

// MARK: - SelectorWork

/// Bounds the work of evaluating a selector, in steps.
///
/// A step takes a few nanoseconds: a pattern takes one for each of its own steps, a condition ten, and a comparison
/// twenty. Steps are counted and not time, so the same selector and document always have the same result. When all
/// steps are spent, conditions don't match.
package final class SelectorWork: Sendable {
    /// The steps of one document, unless a query counts the steps of all its documents together.
    package static let document = 10_000_000
    static let condition = 10
    static let comparison = 20

    private let left: Atomic<Int>
    private let isWanted: @Sendable () -> Bool

    /// - Parameters:
    ///   - steps: The number of steps that may be taken.
    ///   - isWanted: Returns whether a client still waits for the result; if not, the steps count as spent.
    package init(_ steps: Int, isWanted: @escaping @Sendable () -> Bool = { true }) {
        left = Atomic(steps)
        self.isWanted = isWanted
    }

    /// Whether all steps are spent.
    package var isSpent: Bool { available <= 0 }

    /// The number of remaining steps.
    var available: Int { left.load(ordering: .relaxed) }

    /// Prepares for a search, which may take a long time.
    ///
    /// - Returns: Whether there are steps left.
    func begin() -> Bool {
        if !isWanted() { left.store(0, ordering: .relaxed) }
        return !isSpent
    }

    /// Spends steps.
    ///
    /// - Returns: Whether there were enough; otherwise all are spent now.
    func spend(_ steps: Int) -> Bool {
        let before = available
        let rest = before.subtractingReportingOverflow(steps)
        left.store(rest.overflow ? 0 : max(rest.partialValue, 0), ordering: .relaxed)
        return !rest.overflow && rest.partialValue > 0
    }
}
