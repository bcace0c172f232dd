internal import SettleCore
internal import SettleDatabase

/// The values of one member that conditions allow, as one range of the comparison order.
///
///     {"$gte": 1, "$lt": 5, "$gt": 0}    →    1 ≤ value < 5
struct FieldRange: Sendable {
    /// A bound of the range.
    struct Bound: Sendable {
        let value: JSONValue
        /// Whether the value itself belongs to the range.
        let isIncluded: Bool
    }

    /// How values are compared.
    typealias Order = (JSONValue, JSONValue) -> Collation.Order

    private(set) var lower: Bound?
    private(set) var upper: Bound?
    /// Whether it contains no values.
    private(set) var isEmpty = false
    /// Whether it contains exactly one value.
    private(set) var isEqual = false

    /// Raises the lower bound to a value, included or not.
    mutating func rise(to value: JSONValue, isIncluded: Bool, by order: Order) {
        if let lower {
            switch order(value, lower.value) {
            case .before: break
            case .same where isIncluded || !lower.isIncluded: break
            default: self.lower = Bound(value: value, isIncluded: isIncluded)
            }
        } else {
            lower = Bound(value: value, isIncluded: isIncluded)
        }
        check(order)
    }

    /// Lowers the upper bound to a value, included or not.
    mutating func fall(to value: JSONValue, isIncluded: Bool, by order: Order) {
        if let upper {
            switch order(value, upper.value) {
            case .after: break
            case .same where isIncluded || !upper.isIncluded: break
            default: self.upper = Bound(value: value, isIncluded: isIncluded)
            }
        } else {
            upper = Bound(value: value, isIncluded: isIncluded)
        }
        check(order)
    }

    /// Applies a condition as CouchDB does; the range of a prefix is from the text to the same text followed by the
    /// last character of all.
    mutating func narrow(_ condition: SelectorCondition, by order: Order) {
        let value = condition.argument
        switch condition.kind {
        case .less: fall(to: value, isIncluded: false, by: order)
        case .lessOrEqual: fall(to: value, isIncluded: true, by: order)
        case .greater: rise(to: value, isIncluded: false, by: order)
        case .greaterOrEqual: rise(to: value, isIncluded: true, by: order)
        case .equal:
            rise(to: value, isIncluded: true, by: order)
            fall(to: value, isIncluded: true, by: order)
        case .prefix:
            rise(to: value, isIncluded: true, by: order)
            fall(to: .string((value.string ?? "") + "\u{FFFF}"), isIncluded: true, by: order)
        case .exists: break
        }
    }

    private mutating func check(_ order: Order) {
        guard let lower, let upper else { return }
        switch order(lower.value, upper.value) {
        case .before: break
        case .same where lower.isIncluded && upper.isIncluded: isEqual = true
        default: isEmpty = true
        }
    }
}
