internal import SettleCore

/// The decoder for ``JSONValue/decode(_:coding:)``: one value and its coding path.
struct JSONDecoding: Decoder {
    let value: JSONValue
    let codingPath: [any CodingKey]
    let rules: CodingRules

    var userInfo: [CodingUserInfoKey: Any] { rules.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch(JSONObject.self, "an object") }
        return KeyedDecodingContainer(JSONKeyedDecoding<Key>(members: members, codingPath: codingPath, rules: rules))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([JSONValue].self, "an array") }
        return JSONUnkeyedDecoding(elements: elements, codingPath: codingPath, rules: rules)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func child(_ value: JSONValue, at key: some CodingKey) -> JSONDecoding {
        JSONDecoding(value: value, codingPath: codingPath + [key], rules: rules)
    }

    /// The error for a value of another type than requested.
    func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "expected \(expected), found \(value.kind)")
        return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The error for a value of the right type that can't be converted.
    func invalid(_ message: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: message))
    }

    /// The error for a number that a type can't represent.
    func unfit(_ type: Any.Type, _ number: JSONNumber) -> DecodingError {
        invalid("\(type) cannot hold \(number.text.prefix(40))")
    }
}

extension JSONDecoding: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let bool) = value else { throw mismatch(type, "a boolean") }
        return bool
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let string) = value else { throw mismatch(type, "a string") }
        return string
    }

    func decode(_ type: Double.Type) throws -> Double {
        let number = try number(type)
        guard number.double.isFinite else { throw unfit(type, number) }
        return number.double
    }

    func decode(_ type: Float.Type) throws -> Float {
        let number = try number(type)
        guard let float = Float(number.text), float.isFinite else { throw unfit(type, number) }
        return float
    }

    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T { try integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T { try rules.decode(type, self) ?? T(from: self) }

    private func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        let number = try number(type)
        let text = number.isInteger ? number.text : JSONDecimal(number).integerText
        guard let text, let integer = T(text) else { throw unfit(type, number) }
        return integer
    }

    private func number(_ type: Any.Type) throws -> JSONNumber {
        guard case .number(let number) = value else { throw mismatch(type, "a number") }
        return number
    }
}

// MARK: - JSONKeyedDecoding

/// Decodes the members of an object.
struct JSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: JSONObject
    let codingPath: [any CodingKey]
    let rules: CodingRules

    var allKeys: [Key] { members.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { value(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try member(key).decodeNil() }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decode(type) }

    func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).decode(type) }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).decode(type) }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decode(type) }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try member(key).decode(type) }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try member(key).decode(type) }

    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let id = documentID(key) { return try decode(type, of: id, key) }
        return try member(key).decode(type)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        if let id = documentID(key) { return try decode(type, of: id, key) }
        return try member(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try member(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { place(JSONCodingKey.super) }

    func superDecoder(forKey key: Key) throws -> any Decoder { place(key) }

    private func member(_ key: Key) throws -> JSONDecoding {
        guard let value = value(key) else {
            let context = DecodingError.Context(
                codingPath: codingPath, debugDescription: "there is no member \"\(key.stringValue)\"")
            throw DecodingError.keyNotFound(key, context)
        }
        return JSONDecoding(value: value, codingPath: codingPath + [key], rules: rules)
    }

    /// A member's value. At the top level it may be the document's id or revision, which are not members of its
    /// body.
    private func value(_ key: Key) -> JSONValue? {
        guard codingPath.isEmpty, let identity = rules.identity else { return members[key.stringValue] }
        let name = rules.name(of: key, in: codingPath)
        return identity[name] ?? members[name]
    }

    /// A member's decoder; for a missing member it is the decoder of `null`, because a superclass may need no
    /// members.
    private func place(_ key: some CodingKey) -> JSONDecoding {
        JSONDecoding(value: members[key.stringValue] ?? .null, codingPath: codingPath + [key], rules: rules)
    }

    /// The document's id, if a key stands for it.
    private func documentID(_ key: Key) -> DocumentID? {
        guard codingPath.isEmpty, let identity = rules.identity else { return nil }
        return rules.name(of: key, in: codingPath) == "_id" ? identity.id : nil
    }

    /// The id of a model from that of its document.
    private func decode<T: Decodable>(_ type: T.Type, of id: DocumentID, _ key: Key) throws -> T {
        guard let convertible = type as? any DocumentIDConvertible.Type else { return try member(key).decode(type) }
        do { if let made = try convertible.init(documentID: id) as? T { return made } } catch {
            let message = "\"\(id)\" can't be an id of the type \(type)"
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [key], debugDescription: message, underlyingError: error))
        }
        return try member(key).decode(type)
    }
}

// MARK: - JSONUnkeyedDecoding

/// Decodes the elements of an array in order. After a failure, the next call decodes the same element.
struct JSONUnkeyedDecoding: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let codingPath: [any CodingKey]
    let rules: CodingRules
    private(set) var currentIndex = 0

    init(elements: [JSONValue], codingPath: [any CodingKey], rules: CodingRules) {
        self.elements = elements
        self.codingPath = codingPath
        self.rules = rules
    }

    var count: Int? { elements.count }

    var isAtEnd: Bool { currentIndex >= elements.count }

    mutating func decodeNil() throws -> Bool {
        guard try element(Any?.self).decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.decode(type) } }

    mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.decode(type) } }

    mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.decode(type) } }

    mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.decode(type) } }

    mutating func decode(_ type: Int128.Type) throws -> Int128 { try next(type) { try $0.decode(type) } }

    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try next(type) { try $0.decode(type) } }

    mutating func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) throws -> T {
        try next(type) { try $0.decode(type) }
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next(type) { try $0.decode(type) } }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next(JSONObject.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([JSONValue].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }

    private mutating func next<T>(_ type: Any.Type, _ decode: (JSONDecoding) throws -> T) throws -> T {
        let value = try decode(element(type))
        currentIndex += 1
        return value
    }

    private func element(_ type: Any.Type) throws -> JSONDecoding {
        let path = codingPath + [JSONCodingKey(currentIndex)]
        guard !isAtEnd else {
            let context = DecodingError.Context(codingPath: path, debugDescription: "the array has ended")
            throw DecodingError.valueNotFound(type, context)
        }
        return JSONDecoding(value: elements[currentIndex], codingPath: path, rules: rules)
    }
}

// MARK: - JSONCodingKey

/// A coding key with any name, or for an index in an array.
struct JSONCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    /// Creates a member's key.
    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    /// Creates an element's key.
    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) { self.init(intValue) }

    /// The key of a superclass's members.
    static let `super` = JSONCodingKey("super")
}
