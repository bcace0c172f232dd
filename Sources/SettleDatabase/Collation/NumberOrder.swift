internal import Foundation
internal import SettleCore

/// The order of JSON numbers by value, without rounding an integer to a float.
///
/// Erlang, and so CouchDB, has integers of any size and compares them with floats exactly: different integers are never
/// equal, and an integer equals a float only if their values are identical.
enum NumberOrder {
    /// Compares two numbers.
    ///
    /// - Complexity: O(*n*) in digits.
    static func compare(_ left: JSONNumber, _ right: JSONNumber) -> Collation.Order {
        switch (left.isInteger, right.isInteger) {
        case (true, true): integers(left.text, right.text)
        case (false, false): Collation.Order(left.double, right.double)
        case (true, false): integer(left.text, float: right.double)
        case (false, true): integer(right.text, float: left.double).reversed
        }
    }

    private static func integers(_ left: String, _ right: String) -> Collation.Order {
        if let left = Int(left), let right = Int(right) { return Collation.Order(left, right) }
        let isNegative = (left.hasPrefix("-"), right.hasPrefix("-"))
        switch isNegative {
        case (true, false): return .before
        case (false, true): return .after
        case (true, true): return magnitudes(right.utf8.dropFirst(), left.utf8.dropFirst())
        case (false, false): return magnitudes(left.utf8[...], right.utf8[...])
        }
    }

    /// Compares digits; JSON has no leading zeros, so the longer one is greater.
    private static func magnitudes(
        _ left: Substring.UTF8View, _ right: Substring.UTF8View
    ) -> Collation.Order {
        if left.count != right.count { return Collation.Order(left.count, right.count) }
        if left.elementsEqual(right) { return .same }
        return left.lexicographicallyPrecedes(right) ? .before : .after
    }

    /// A float beyond 2⁵³ as the equal integer.
    static func integer(of value: Double) -> JSONNumber {
        JSONNumber(text: String(format: "%.0f", value)) ?? JSONNumber(0)
    }

    private static func integer(_ text: String, float: Double) -> Collation.Order {
        let whole = float.rounded(.towardZero)
        // Beyond 2⁶³ a float is an integer, whose digits C prints exactly.
        let digits = Int(exactly: whole).map(String.init) ?? String(format: "%.0f", whole)
        let order = integers(text, digits)
        return order == .same ? Collation.Order(whole, float) : order
    }
}
