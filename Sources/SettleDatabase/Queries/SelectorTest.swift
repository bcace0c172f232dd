internal import SettleCore

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
