internal import SettleCore

/// Walks two JSON values side by side until they differ, without recursion.
///
///     [1, {"a": 2}]      frames:  [1, {…}] against [1, {…}], next 2
///     [1, {"a": 3}]               {"a": 2} against {"a": 3}, next 1
///                        then 2 against 3 decides
///
/// Only the containers that are open on both sides are stored, so deep nesting costs memory, not stack.
enum JSONWalk {
    private enum Frame {
        case arrays([JSONValue], [JSONValue], next: Int)
        case objects(JSONObject, JSONObject, next: Int)
    }

    /// Compares two values.
    ///
    /// - Parameters:
    ///   - left: The first value.
    ///   - right: The second value.
    ///   - leaf: Compares two values that are not both arrays or both objects.
    ///   - name: Compares two names of members.
    /// - Returns: The first difference in the order of the text.
    static func compare(
        _ left: JSONValue, _ right: JSONValue, leaf: (JSONValue, JSONValue) -> Collation.Order,
        name: (String, String) -> Collation.Order
    ) -> Collation.Order {
        var open: [Frame] = []
        var pair = (left, right)
        while true {
            switch pair {
            case (.array(let left), .array(let right)): open.append(.arrays(left, right, next: 0))
            case (.object(let left), .object(let right)): open.append(.objects(left, right, next: 0))
            default:
                let order = leaf(pair.0, pair.1)
                if order != .same { return order }
            }
            switch advance(&open, name) {
            case .done(let order): return order
            case .pair(let left, let right): pair = (left, right)
            }
        }
    }

    private enum Step {
        case pair(JSONValue, JSONValue)
        case done(Collation.Order)
    }

    /// Finds the next two values to compare, and closes containers that have none left.
    private static func advance(_ open: inout [Frame], _ name: (String, String) -> Collation.Order) -> Step {
        while let frame = open.popLast() {
            switch frame {
            case .arrays(let left, let right, let next):
                if next < left.count, next < right.count {
                    open.append(.arrays(left, right, next: next + 1))
                    return .pair(left[next], right[next])
                }
                if left.count != right.count { return .done(Collation.Order(left.count, right.count)) }
            case .objects(let left, let right, let next):
                if next < left.count, next < right.count {
                    let order = name(left[next].name, right[next].name)
                    if order != .same { return .done(order) }
                    open.append(.objects(left, right, next: next + 1))
                    return .pair(left[next].value, right[next].value)
                }
                if left.count != right.count { return .done(Collation.Order(left.count, right.count)) }
            }
        }
        return .done(.same)
    }
}
