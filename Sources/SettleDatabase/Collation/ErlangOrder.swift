package import SettleCore

/// Erlang's term order of JSON values, which CouchDB uses where it compares without collation.
///
///     numbers < false < null < true < objects < arrays < strings
///
/// Strings are compared by their bytes. A selector's conditions on `_id` use this order, because ids are sorted by it,
/// and `$all` uses it to find identical elements.
package enum ErlangOrder {
    /// Compares two values.
    package static func compare(_ left: JSONValue, _ right: JSONValue) -> Collation.Order {
        JSONWalk.compare(left, right, leaf: leafOrder, name: StringCollator.bytes)
    }

    /// Whether the values are equal and their numbers of the same kind, whereas ``compare(_:_:)`` treats 1 and 1.0 as
    /// equal.
    static func isIdentical(_ left: JSONValue, _ right: JSONValue) -> Bool {
        let order = JSONWalk.compare(
            left, right,
            leaf: { left, right in
                if let left = left.number, let right = right.number, left.isInteger != right.isInteger {
                    return left.isInteger ? .before : .after
                }
                return leafOrder(left, right)
            }, name: StringCollator.bytes)
        return order == .same
    }

    private static func leafOrder(_ left: JSONValue, _ right: JSONValue) -> Collation.Order {
        switch (left, right) {
        case (.number(let left), .number(let right)): NumberOrder.compare(left, right)
        case (.string(let left), .string(let right)): StringCollator.bytes(left, right)
        default: Collation.Order(rank(left), rank(right))
        }
    }

    private static func rank(_ value: JSONValue) -> Int {
        switch value {
        case .number: 0
        case .bool(false): 1
        case .null: 2
        case .bool(true): 3
        case .object: 4
        case .array: 5
        case .string: 6
        }
    }
}
