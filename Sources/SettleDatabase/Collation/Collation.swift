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

    /// The version of the order of strings, which only another version of Settle changes.
    ///
    /// Indexes stored in this order have to be rebuilt when the version changes.
    public static var version: String { StringCollator.version }

    /// The version's number without zeros at its end, as CouchDB shows ICU's: `153.120`.
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
