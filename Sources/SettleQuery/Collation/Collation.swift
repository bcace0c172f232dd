internal import Foundation
public import SettleCore

/// CouchDB's order of JSON values, which views, queries and selectors share.
///
///     null < false < true < numbers < strings < arrays < objects
///
///       numbers   by value, integers and floats alike, exactly: 1 is 1.0, and 9007199254740993 > 9007199254740992.0
///       strings   by the root collation of Unicode: "a" < "A" < "á" < "aa" < "b"; "é" is "e" + "◌́"
///       arrays    element by element, then the shorter one first
///       objects   member by member in the order they stand, name before value, then the one with fewer first
///
/// It is a total preorder: different values may compare as equal, like `1` and `1.0`, or two encodings of one letter.
/// The order of members matters, so `{"a":1,"b":2}` and `{"b":2,"a":1}` differ.
public enum Collation {
    /// The result of comparing two values.
    public enum Order: Int, Sendable {
        /// The first comes before the second.
        case before = -1
        /// They compare as equal.
        case same = 0
        /// The first comes after the second.
        case after = 1

        /// Compares two values that Swift can compare.
        init<Value: Comparable>(_ left: Value, _ right: Value) {
            self = left < right ? .before : left == right ? .same : .after
        }

        /// The order with the two values exchanged.
        public var reversed: Order { Order(rawValue: -rawValue) ?? .same }
    }

    /// Compares two values.
    ///
    /// - Complexity: O(*n*) in bytes; nesting is walked without recursion.
    public static func compare(_ left: JSONValue, _ right: JSONValue) -> Order {
        JSONWalk.compare(left, right, leaf: leafOrder, name: StringCollator.compare)
    }

    /// Whether the first value comes before the second, for sorting.
    public static func isBefore(_ left: JSONValue, _ right: JSONValue) -> Bool { compare(left, right) == .before }

    /// The version of the order of strings. It can change only with a new version of Settle.
    ///
    /// Indexes stored in this order have to be rebuilt when the version changes.
    public static var version: String { StringCollator.version }

    /// The version's number without trailing zeros, as CouchDB shows ICU's: `153.120`.
    package static var shortVersion: String {
        var text = Substring(version.replacing("icu ", with: ""))
        while text.hasSuffix(".0") { text = text.dropLast(2) }
        return String(text)
    }

    /// Compares two values that are not both arrays or both objects.
    private static func leafOrder(_ left: JSONValue, _ right: JSONValue) -> Order {
        switch (left, right) {
        case (.number(let left), .number(let right)): NumberOrder.compare(left, right)
        case (.string(let left), .string(let right)): StringCollator.compare(left, right)
        default: Order(rank(left), rank(right))
        }
    }

    private static func rank(_ value: JSONValue) -> Int {
        switch value {
        case .null: 0
        case .bool(let value): value ? 2 : 1
        case .number: 3
        case .string: 4
        case .array: 5
        case .object: 6
        }
    }
}

// MARK: - ErlangOrder

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

    /// Whether the values are equal and their numbers are of the same kind. ``compare(_:_:)`` treats 1 and 1.0 as
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

// MARK: - JSONWalk

/// Walks through two JSON values side by side until they differ, without recursion.
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

    /// Finds the next two values to compare, and leaves containers that have no more.
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

// MARK: - NumberOrder

/// The order of JSON numbers by value, without rounding an integer to a float.
///
/// Erlang, and so CouchDB, has integers of any size and compares them with floats exactly: different integers are
/// never equal, and an integer equals a float only if their values are identical.
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

    /// Compares digit strings. JSON has no leading zeros, so the longer one is greater.
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
        // From 2⁶³ on a float is an integer, and C prints all its digits.
        let digits = Int(exactly: whole).map(String.init) ?? String(format: "%.0f", whole)
        let order = integers(text, digits)
        return order == .same ? Collation.Order(whole, float) : order
    }
}

// MARK: - StringCollator

/// Compares strings by Unicode's root collation, as CouchDB does with ICU.
///
/// The order and the sort keys are those of ICU 72 on every system.
enum StringCollator {
    /// The version of the order.
    static var version: String { CollationData.version }

    /// Appends a string's sort key, which contains no zero byte, and a zero.
    static func appendSortKey(of text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { CollationKey(of: $0, in: .shared).append(to: &bytes) }
        bytes.append(0)
    }

    /// Appends the bytes of the text and a zero; bytes below two are escaped as two bytes.
    static func appendEscaped(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            if byte < 2 { bytes.append(1) }
            bytes.append(byte < 2 ? byte + 1 : byte)
        }
        bytes.append(0)
    }

    /// Compares two strings; canonically equivalent ones are equal.
    static func compare(_ left: String, _ right: String) -> Collation.Order {
        var (left, right) = (left, right)
        let order = left.withUTF8 { left in
            right.withUTF8 { right in CollationComparison(left: left, right: right, table: .shared).order() }
        }
        return Collation.Order(order, 0)
    }

    /// Compares two strings by their UTF-8.
    static func bytes(_ left: String, _ right: String) -> Collation.Order {
        if left.utf8.elementsEqual(right.utf8) { return .same }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? .before : .after
    }
}
