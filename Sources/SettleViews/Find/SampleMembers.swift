/// The members of an object, all of which are there.
struct SampleMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SampleDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// Those of a table, which is empty or has one element. The members of a model are what is asked for.
    var allKeys: [Key] { decoder.isOther == true && !decoder.isDeep ? Key(stringValue: "a").map { [$0] } ?? [] : [] }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) -> Bool { decoder.isDeep }

    func decode(_ type: Bool.Type, forKey key: Key) -> Bool { decoder.child(key).decode(type) }

    func decode(_ type: String.Type, forKey key: Key) -> String { decoder.child(key).decode(type) }

    func decode(_ type: Double.Type, forKey key: Key) -> Double { decoder.child(key).decode(type) }

    func decode(_ type: Float.Type, forKey key: Key) -> Float { decoder.child(key).decode(type) }

    func decode(_ type: Int128.Type, forKey key: Key) -> Int128 { decoder.child(key).decode(type) }

    func decode(_ type: UInt128.Type, forKey key: Key) -> UInt128 { decoder.child(key).decode(type) }

    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type, forKey key: Key) -> T {
        decoder.child(key).decode(type)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder.child(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        decoder.child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        decoder.child(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { decoder }

    func superDecoder(forKey key: Key) -> any Decoder { decoder.child(key) }
}
