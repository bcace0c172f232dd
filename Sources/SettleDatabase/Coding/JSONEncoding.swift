internal import SettleCore

/// The encoder for ``JSONValue/init(encoding:coding:)``.
struct JSONEncoding: Encoder {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    var userInfo: [CodingUserInfoKey: Any] { node.rules.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(JSONKeyedEncoding<Key>(node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return JSONUnkeyedEncoding(node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingleEncoding(node: node) }
}

/// Encodes a single value.
struct JSONSingleEncoding: SingleValueEncodingContainer {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    func encodeNil() throws { node.set(.null) }

    func encode(_ value: Bool) throws { node.set(.bool(value)) }

    func encode(_ value: String) throws { node.set(.string(value)) }

    func encode(_ value: Double) throws { node.set(try node.encoded(value)) }

    func encode(_ value: Float) throws { node.set(try node.encoded(value)) }

    func encode(_ value: some FixedWidthInteger & Encodable) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: Int128) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: UInt128) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: some Encodable) throws { try node.encode(value) }
}

/// Encodes the elements of an array.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    var count: Int { node.count }

    func encodeNil() throws { node.add(.value(.null)) }

    func encode(_ value: Bool) throws { node.add(.value(.bool(value))) }

    func encode(_ value: String) throws { node.add(.value(.string(value))) }

    func encode(_ value: Double) throws { node.add(.value(try node.encoded(value, at: key))) }

    func encode(_ value: Float) throws { node.add(.value(try node.encoded(value, at: key))) }

    func encode(_ value: some FixedWidthInteger & Encodable) throws { node.add(.value(.number(JSONNumber(value)))) }

    func encode(_ value: Int128) throws { node.add(.value(.number(JSONNumber(value)))) }

    func encode(_ value: UInt128) throws { node.add(.value(.number(JSONNumber(value)))) }

    func encode(_ value: some Encodable) throws { node.add(.value(try node.encoded(value, at: key))) }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        JSONEncoding(node: node.nextChild()).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONEncoding(node: node.nextChild()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONEncoding(node: node.nextChild()) }

    private var key: JSONCodingKey { JSONCodingKey(node.count) }
}
