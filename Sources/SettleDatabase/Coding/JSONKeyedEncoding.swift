internal import SettleCore

/// Encodes the members of an object.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    func encodeNil(forKey key: Key) throws { add(.null, key) }

    func encode(_ value: Bool, forKey key: Key) throws { add(.bool(value), key) }

    func encode(_ value: String, forKey key: Key) throws { add(.string(value), key) }

    func encode(_ value: Double, forKey key: Key) throws { add(try node.encoded(value, at: key), key) }

    func encode(_ value: Float, forKey key: Key) throws { add(try node.encoded(value, at: key), key) }

    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) throws {
        add(.number(JSONNumber(value)), key)
    }

    func encode(_ value: Int128, forKey key: Key) throws { add(.number(JSONNumber(value)), key) }

    func encode(_ value: UInt128, forKey key: Key) throws { add(.number(JSONNumber(value)), key) }

    func encode(_ value: some Encodable, forKey key: Key) throws { add(try node.encoded(value, at: key), key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        JSONEncoding(node: node.child(key)).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONEncoding(node: node.child(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONEncoding(node: node.child(JSONCodingKey.super)) }

    func superEncoder(forKey key: Key) -> any Encoder { JSONEncoding(node: node.child(key)) }

    private func add(_ value: JSONValue, _ key: Key) { node.add(.value(value), named: node.name(of: key)) }
}
