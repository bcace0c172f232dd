/// A JSON value that preserves the order of members and the spelling of numbers.
///
/// Both count: CouchDB computes revision ids from members in order, and `1` is not `1.0` (SEMANTICS 198).
///
///     let milk: JSON = ["name": "Milk", "count": 2]
///     milk["count"]?.int                        // 2
///     print(milk)                               // {"name":"Milk","count":2}
///
/// Two values are equal if they have the same members in the same order; numbers are compared by value, integers apart
/// from floats, and strings by their UTF-8, while Swift considers `"\u{E9}"` and `"e\u{301}"` equal.
public enum JSONValue: Hashable, Sendable {
    /// The word `null`.
    case null
    /// One of the words `true` and `false`.
    case bool(Bool)
    /// A number with its spelling.
    case number(JSONNumber)
    /// A string, without escapes.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Members in order.
    case object(JSONObject)

    /// The boolean, or `nil` for any other kind.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The string, or `nil` for any other kind.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The number, or `nil` for any other kind.
    public var number: JSONNumber? { if case .number(let value) = self { value } else { nil } }

    /// The number as an integer, or `nil` if it is not an integer or exceeds 64 bits.
    public var int: Int? { number?.int }

    /// The number as a float, or `nil` for any other kind.
    public var double: Double? { number?.double }

    /// The elements, or `nil` for any other kind.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The members, or `nil` for any other kind.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// A member of an object; `nil` if it is missing, or this is not an object.
    ///
    /// Setting a member of a value that is not an object makes it one. Setting `nil` removes the member.
    public subscript(name: String) -> JSONValue? {
        get { object?[name] }
        set {
            var members = object ?? JSONObject()
            self = .null  // or the members would be copied
            members[name] = newValue
            self = .object(members)
        }
    }

    /// An element of an array; `nil` if it is missing, or this is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes `null`.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int) { self = .number(JSONNumber(value)) }
    /// Makes a float; a number that is not finite makes `null`.
    public init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object; of members with one name the last counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements))
    }
}

extension JSONValue {
    /// Whether both are spelled from the same members in the same order, strings byte by byte.
    ///
    /// - Complexity: O(*n*) in bytes.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSONValue {
    /// Whether two values say the same: numbers are compared by value, and objects without the order of their members.
    ///
    /// `1`, `1.0` and `1e0` say the same, where `==` tells integers from floats.
    ///
    /// - Complexity: O(*n*) in bytes for objects whose members are in the same order, else O(*n* · *m*) for *m* members.
    package func hasSameMeaning(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right || JSONDecimal(left) == JSONDecimal(right)
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.hasSameMeaning(as: $1) }
        case (.object(let left), .object(let right)): left.hasSameMeaning(as: right)
        default: false
        }
    }
}

extension JSONObject {
    /// Whether two objects have the same members, in any order, with values that say the same.
    package func hasSameMeaning(as other: JSONObject) -> Bool {
        guard count == other.count else { return false }
        return enumerated().allSatisfy { position, member in
            let twin = other[position]
            if twin.name.hasSameBytes(as: member.name) { return member.value.hasSameMeaning(as: twin.value) }
            return other[member.name].map { member.value.hasSameMeaning(as: $0) } ?? false
        }
    }
}
