/// The decoder behind ``JSON/decode(_:)``: one value and where it stands.
struct JSONDecoding: Decoder {
    let value: JSON
    let codingPath: [any CodingKey]

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw mismatch(JSONObject.self, "an object") }
        return KeyedDecodingContainer(JSONKeyedDecoding<Key>(members: members, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([JSON].self, "an array") }
        return JSONUnkeyedDecoding(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    /// The decoder of a part of the value.
    func child(_ value: JSON, at key: some CodingKey) -> JSONDecoding {
        JSONDecoding(value: value, codingPath: codingPath + [key])
    }

    /// The error about a value of another kind than is asked for.
    func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "expected \(expected), found \(value.kind)")
        return value.isNull ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// The error about a number that a type cannot hold.
    func unfit(_ type: Any.Type, _ number: JSONNumber) -> DecodingError {
        let shown = number.text.prefix(40)
        return .dataCorrupted(
            DecodingError.Context(codingPath: codingPath, debugDescription: "\(type) cannot hold \(shown)"))
    }
}

extension JSON {
    /// The kind of value in words, for messages.
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
