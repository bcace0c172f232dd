/// A JSON value that preserves the order of members and the spelling of numbers.
///
/// Both matter: CouchDB computes revision ids from members in order, and `1` is not `1.0` (SEMANTICS 198).
///
///     let milk: JSON = ["name": "Milk", "count": 2]
///     milk["count"]?.int                        // 2
///     print(milk)                               // {"name":"Milk","count":2}
///
/// Two values are equal if they have the same members in the same order. Numbers are compared by value, with
/// integers and floats distinct; strings are compared by their UTF-8, although Swift considers `"\u{E9}"` and
/// `"e\u{301}"` equal.
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
    /// Setting a member of a value that is not an object replaces the value by an object. Setting `nil` removes the
    /// member.
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
    /// Makes a float; a number that is not finite becomes `null`.
    public init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }
    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an object; of members with the same name the last one counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements))
    }
}

extension JSONValue {
    /// Whether both have the same members in the same order, and strings equal byte by byte.
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
    /// Whether two values mean the same: numbers are compared by value, and objects regardless of the order of
    /// their members.
    ///
    /// `1`, `1.0` and `1e0` mean the same, although `==` distinguishes integers from floats.
    ///
    /// - Complexity: O(*n*) in bytes for objects with members in the same order, otherwise O(*n* · *m*) for *m*
    ///   members.
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
    /// Whether two objects have the same members, in any order, with values that mean the same.
    package func hasSameMeaning(as other: JSONObject) -> Bool {
        guard count == other.count else { return false }
        return enumerated().allSatisfy { position, member in
            let twin = other[position]
            if twin.name.hasSameBytes(as: member.name) { return member.value.hasSameMeaning(as: twin.value) }
            return other[member.name].map { member.value.hasSameMeaning(as: $0) } ?? false
        }
    }
}

// MARK: - Kind

extension JSONValue {
    /// The kind of value, for messages.
    package var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

// MARK: - Serialize

extension JSONValue {
    /// The value as compact UTF-8 JSON: no white space, members in order, numbers in their spelling, strings with
    /// only the escapes that CouchDB writes.
    ///
    /// - Complexity: O(*n*) in bytes.
    public var utf8: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    /// Appends the value as compact UTF-8 JSON.
    package func append(to bytes: inout [UInt8]) {
        append(to: &bytes) { $1.append(contentsOf: $0.text.utf8) }
    }

    /// Appends the value as compact UTF-8 JSON, in which a closure appends the numbers.
    package func append(to bytes: inout [UInt8], number spell: (JSONNumber, inout [UInt8]) -> Void) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let number): spell(number, &bytes)
        case .string(let string): Self.append(string, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.append(to: &bytes, number: spell)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.append(member.name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.append(to: &bytes, number: spell)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Appends a string in quotes.
    package static func append(_ string: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { text in
            var copied = 0
            for (index, byte) in text.enumerated() where JSONEscape.isEscaped(byte) {
                bytes.append(contentsOf: text[copied..<index])
                JSONEscape.encode(byte) { bytes.append($0) }
                copied = index + 1
            }
            bytes.append(contentsOf: text[copied...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The value on several lines, indented by two blanks per level, for people to read.
    public var prettyPrinted: String {
        var text = ""
        appendPretty(to: &text, indent: "")
        return text
    }

    private func appendPretty(to text: inout String, indent: String) {
        let inner = indent + "  "
        switch self {
        case .array(let elements) where !elements.isEmpty:
            text += "[\n"
            for (index, element) in elements.enumerated() {
                text += inner
                element.appendPretty(to: &text, indent: inner)
                text += index == elements.count - 1 ? "\n" : ",\n"
            }
            text += indent + "]"
        case .object(let members) where !members.isEmpty:
            text += "{\n"
            for (index, member) in members.enumerated() {
                text += inner + JSONValue.string(member.name).description + ": "
                member.value.appendPretty(to: &text, indent: inner)
                text += index == members.count - 1 ? "\n" : ",\n"
            }
            text += indent + "}"
        default: text += description
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON text.
    public var description: String { String(decoding: utf8, as: UTF8.self) }
}

// MARK: - JSONLimits

/// The limits of the JSON codec.
public enum JSONLimits {
    /// The maximum nesting of arrays and objects.
    public static let depth = 1024
    /// The maximum nesting of a text that contains documents: each document may be as deep as a separate one.
    static let envelopeDepth = depth + 16
    /// The maximum number of digits in an integer, because conversion to binary takes quadratic time.
    public static let integerDigits = 65_536
}

extension JSONValue {
    /// Checks that arrays and objects are nested no deeper than ``JSONLimits/depth``, before anything recurses into them.
    ///
    /// - Throws: ``JSONError`` with code `tooDeep`.
    /// - Complexity: O(*n*) in values.
    package func checkDepth() throws(JSONError) {
        guard isNested(deeperThan: JSONLimits.depth) else { return }
        throw JSONError(.tooDeep, "more than \(JSONLimits.depth) levels of arrays and objects")
    }

    private func isNested(deeperThan depth: Int) -> Bool {
        switch self {
        case .array(let elements): depth == 0 || elements.contains { $0.isNested(deeperThan: depth - 1) }
        case .object(let members): depth == 0 || members.contains { $0.value.isNested(deeperThan: depth - 1) }
        case .null, .bool, .number, .string: false
        }
    }
}
