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

    /// The error for a value of another kind than requested.
    func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "expected \(expected), found \(value.kind)")
        return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The error for a value of the right kind that a type can't represent.
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
