/// The elements of a list, which is empty or has one.
struct SampleElements: UnkeyedDecodingContainer {
    let decoder: SampleDecoder
    let length: Int
    private(set) var currentIndex = 0

    init(decoder: SampleDecoder, length: Int) { (self.decoder, self.length) = (decoder, length) }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var count: Int? { length }

    var isAtEnd: Bool { currentIndex >= length }

    mutating func decodeNil() -> Bool { decoder.isDeep }

    mutating func decode(_ type: Bool.Type) -> Bool { next().decode(type) }

    mutating func decode(_ type: String.Type) -> String { next().decode(type) }

    mutating func decode(_ type: Double.Type) -> Double { next().decode(type) }

    mutating func decode(_ type: Float.Type) -> Float { next().decode(type) }

    mutating func decode(_ type: Int128.Type) -> Int128 { next().decode(type) }

    mutating func decode(_ type: UInt128.Type) -> UInt128 { next().decode(type) }

    mutating func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) -> T { next().decode(type) }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { next().unkeyedContainer() }

    mutating func superDecoder() -> any Decoder { next() }

    private mutating func next() -> SampleDecoder {
        defer { currentIndex += 1 }
        return decoder.child(SampleIndex(intValue: currentIndex))
    }
}

/// The place of an element.
private struct SampleIndex: CodingKey {
    let place: Int

    var stringValue: String { "\(place)" }

    var intValue: Int? { place }

    init(intValue: Int) { place = intValue }

    init?(stringValue: String) { nil }
}
