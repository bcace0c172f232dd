internal import SettleCore

/// Decodes the elements of an array in order; one that can't be decoded stays the next.
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
