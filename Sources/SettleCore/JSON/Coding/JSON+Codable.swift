extension JSON {
    /// Encodes a value by its `Encodable` conformance.
    ///
    ///     struct Milk: Codable { var name = "Milk"; var count = 2 }
    ///     try JSON(encoding: Milk())                // {"name":"Milk","count":2}
    ///
    /// Members are in the order in which their keys are first encoded: for a synthesized conformance that is the order of
    /// declaration. A dictionary's members are sorted by the UTF-8 of their names; a `Set`, and a dictionary whose keys are not
    /// names, are in a different order each time.
    ///
    /// A `Float` or `Double` has the fewest digits that parse as the same value, with a point or an exponent. Other types
    /// are encoded by their own conformance; so Foundation's `Date` becomes a number of seconds, `Data` an array of bytes and
    /// `URL` an object.
    ///
    /// - Throws: `EncodingError.invalidValue` with the coding path: for infinity and NaN, past ``JSONLimits/depth``
    ///   levels, if the whole value encodes nothing or requests two kinds of container at one place; and errors of the value's
    ///   own `encode(to:)`.
    /// - Complexity: O(*n*) in encoded values, O(*n* log *n*) in a dictionary's members.
    public init(encoding value: some Encodable) throws {
        let node = JSONEncodingNode(path: [])
        try node.encode(value)
        guard !node.isEmpty else {
            throw node.invalid(value, "the value did not encode anything")
        }
        self = try node.json()
    }

    /// Decodes a value by its `Decodable` conformance.
    ///
    ///     try JSON(parsing: #"{"name":"Milk","count":2}"#).decode(Milk.self)
    ///
    /// An integer property accepts any spelling of an exact integer, `2`, `2.0` and `2e0` alike, but not `2.5`; a float
    /// property accepts integers too. Members without a property are ignored.
    ///
    /// - Throws: `DecodingError` with the coding path: `keyNotFound`, `valueNotFound` for `null`, `typeMismatch` for
    ///   another kind of value, `dataCorrupted` for a number that the type can't represent; and errors of the type's own
    ///   `init(from:)`.
    /// - Complexity: O(*n*) in decoded values.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try JSONDecoding(value: self, codingPath: []).decode(type)
    }
}

extension JSON: Codable {
    /// Encodes the value; with Settle's own encoder unchanged, including the spelling of numbers.
    ///
    /// With another encoder integers past 128 bits become floats.
    ///
    /// - Throws: Errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        if let own = encoder as? JSONEncoding { return own.node.set(self) }
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: JSONCodingKey.self)
            for member in members { try container.encode(member.value, forKey: JSONCodingKey(member.name)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        default:
            var container = encoder.singleValueContainer()
            switch self {
            case .bool(let value): try container.encode(value)
            case .string(let value): try container.encode(value)
            case .number(let number):
                if let int = number.int {
                    try container.encode(int)
                } else if number.isInteger, let wide = Int128(number.text) {
                    try container.encode(wide)
                } else {
                    try container.encode(number.double)
                }
            default: try container.encodeNil()
            }
        }
    }

    /// Decodes any value; with Settle's own decoder unchanged, including the spelling of numbers.
    ///
    /// With another decoder members are in the order in which it lists them.
    ///
    /// - Throws: `DecodingError` if the decoder's value has no JSON equivalent.
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? JSONDecoding {
            self = own.value
        } else if let container = try? decoder.container(keyedBy: JSONCodingKey.self) {
            self = .object(
                JSONObject(
                    try container.allKeys.map { ($0.stringValue, try container.decode(JSON.self, forKey: $0)) }))
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSON] = []
            while !container.isAtEnd { elements.append(try container.decode(JSON.self)) }
            self = .array(elements)
        } else {
            self = try JSON(single: decoder.singleValueContainer())
        }
    }

    private init(single container: any SingleValueDecodingContainer) throws {
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(JSONNumber(value))
        } else if let number = JSONNumber(try container.decode(Double.self)) {
            self = .number(number)
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "JSON has no such number")
        }
    }
}
