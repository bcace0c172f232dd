internal import SettleCore
internal import Synchronization

/// Evaluates a normalized selector on one value.
///
///   - A missing member matches only `$exists: false`; a path through a value that is not an object or array does not
///     match even that.
///   - Values are compared by ``Collation``, those of `_id` by ``ErlangOrder``.
///   - If CouchDB would fail (`$mod` by zero, `$nor` inside of elements), the enclosing `$elemMatch` or similar does
///     not match; without one, the whole selector does not.
///   - When the steps of ``SelectorWork`` are spent, the whole selector does not match.
struct SelectorMatch {
    /// CouchDB's response would be an internal error.
    struct Failure: Error {}

    /// Whether values are compared like ids.
    private var comparesIDs = false
    private let work: SelectorWork

    init(work: SelectorWork) { self.work = work }

    /// Whether a value matches.
    ///
    /// - Throws: ``Failure`` if CouchDB would fail.
    func matches(_ node: SelectorNode, _ value: JSONValue) throws(Failure) -> Bool {
        guard work.take(SelectorWork.condition) else { throw Failure() }
        switch node {
        case .all(let nodes):
            for node in nodes where try !matches(node, value) { return false }
            return true
        case .any(let nodes):
            for node in nodes where try matches(node, value) { return true }
            return nodes.isEmpty
        case .not(let node): return try !matches(node, value)
        case .at(let path, let node): return try matches(node, at: path, in: value)
        case .each(let quantifier, let node): return matches(node, quantifier, in: value)
        case .test(let test): return try passes(test, value)
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
            if case .test(.exists(false)) = node { return true }
            return false
        case .astray: return false
        case .value(let member):
            var inner = self
            if path.isID { inner.comparesIDs = true }
            return try inner.matches(node, member)
        }
    }

    private func matches(_ node: SelectorNode, _ quantifier: SelectorNode.Quantifier, in value: JSONValue) -> Bool {
        do throws(Failure) {
            switch (quantifier, value) {
            case (.element, .array(let elements)):
                for element in elements where try matches(node, element) { return true }
                return false
            case (.elements, .array(let elements)):
                for element in elements where try !matches(node, element) { return false }
                return !elements.isEmpty
            case (.name, .object(let members)):
                for member in members where try matches(node, .string(member.name)) { return true }
                return false
            default: return false
            }
        } catch { return false }
    }
}

extension SelectorMatch {
    /// Whether an existing value passes a test.
    func passes(_ test: SelectorTest, _ value: JSONValue) throws(Failure) -> Bool {
        switch test {
        case .compare(let comparison, let argument): return comparison.accepts(order(value, argument))
        case .contained(let values, let isIn):
            let candidates = value.array ?? [value]
            try spend(comparing: values.count, with: candidates.count)
            return isIn == values.contains { one in candidates.contains { order($0, one) == .same } }
        case .exists(let should): return should
        case .type(let name): return name == Self.kind(of: value)
        case .remainder(let divisor, let rest):
            guard let number = value.number, number.isInteger else { return false }
            return try Self.remainder(number, divisor) == rest.int
        case .pattern(let pattern):
            guard let text = value.string else { return false }
            guard work.begin() else { throw Failure() }
            let isFound = pattern.occurs(in: text, work)
            if work.isSpent { throw Failure() }
            return isFound
        case .contains(let values):
            guard let elements = value.array else { return false }
            try spend(comparing: values.count, with: elements.count)
            return Self.contains(elements, values)
        case .size(let size): return value.array.map { $0.count == size } ?? false
        case .prefix(let prefix): return value.string.map { Self.begins($0, with: prefix) } ?? false
        }
    }

    private func spend(comparing left: Int, with right: Int) throws(Failure) {
        let (count, overflows) = left.multipliedReportingOverflow(by: right)
        let (steps, overflowsToo) = count.multipliedReportingOverflow(by: SelectorWork.comparison)
        guard !overflows, !overflowsToo, work.take(steps) else { throw Failure() }
    }

    private static func kind(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }

    /// The remainder of a division that rounds towards zero, for integers of any size.
    private static func remainder(_ number: JSONNumber, _ divisor: Int) throws(Failure) -> Int {
        guard divisor != 0 else { throw Failure() }
        let modulus = UInt128(divisor.magnitude)
        var rest: UInt128 = 0
        for digit in number.text.utf8 where digit != UInt8(ascii: "-") {
            rest = (rest * 10 + UInt128(digit & 15)) % modulus
        }
        return number.text.hasPrefix("-") ? 0 - Int(rest) : Int(rest)
    }

    /// Whether an array contains all of these elements, or equals the only argument.
    private static func contains(_ elements: [JSONValue], _ values: [JSONValue]) -> Bool {
        guard let first = values.first else { return false }
        if values.count == 1, case .array = first, ErlangOrder.compare(first, .array(elements)) == .same { return true }
        return values.allSatisfy { value in elements.contains { ErlangOrder.isIdentical($0, value) } }
    }

    /// Whether a string starts with a prefix, with a character boundary after it: `e` is not a prefix of `é` written as
    /// `e` followed by a combining accent.
    private static func begins(_ text: String, with prefix: String) -> Bool {
        guard text.utf8.starts(with: prefix.utf8) else { return false }
        guard let last = prefix.unicodeScalars.last else { return true }
        let start = text.utf8.index(text.startIndex, offsetBy: prefix.utf8.count - String(last).utf8.count)
        return String(text.unicodeScalars[start...]).first?.unicodeScalars.count == 1
    }
}

// MARK: - SelectorTest

/// An operator at a leaf of a selector, which tests one value.
enum SelectorTest: Sendable {
    /// The operators that compare by order.
    enum Comparison: String {
        case less = "$lt"
        case lessOrEqual = "$lte"
        case equal = "$eq"
        case notEqual = "$ne"
        case greaterOrEqual = "$gte"
        case greater = "$gt"

        /// The opposite operator.
        var negated: Comparison {
            switch self {
            case .less: .greaterOrEqual
            case .lessOrEqual: .greater
            case .equal: .notEqual
            case .notEqual: .equal
            case .greaterOrEqual: .less
            case .greater: .lessOrEqual
            }
        }

        /// Whether the operator accepts the result of a comparison.
        func accepts(_ order: Collation.Order) -> Bool {
            switch self {
            case .less: order == .before
            case .lessOrEqual: order != .after
            case .equal: order == .same
            case .notEqual: order != .same
            case .greaterOrEqual: order != .before
            case .greater: order == .after
            }
        }
    }

    /// The value compares to another as required.
    case compare(Comparison, JSONValue)
    /// `$in`, or `$nin`: the value, or an element of an array, is one of these.
    case contained([JSONValue], isIn: Bool)
    /// `$exists`.
    case exists(Bool)
    /// `$type`: the value has the type of this name.
    case type(String)
    /// `$mod`: an integer leaves this remainder.
    case remainder(divisor: Int, JSONNumber)
    /// `$regex`.
    case pattern(BytePattern)
    /// `$all`: an array contains all of these, or equals the only one.
    case contains([JSONValue])
    /// `$size`: an array has this many elements; `nil` for more than any array has.
    case size(Int?)
    /// `$beginsWith`.
    case prefix(String)

    /// The opposite test, if a single operator expresses it.
    var negated: SelectorTest? {
        switch self {
        case .compare(let comparison, let value): .compare(comparison.negated, value)
        case .contained(let values, let isIn): .contained(values, isIn: !isIn)
        case .exists(let value): .exists(!value)
        default: nil
        }
    }
}

// MARK: - SelectorWork

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
