public import SettleCore

extension JSONValue {
    /// Encodes a value by its `Encodable` conformance.
    ///
    ///     struct Milk: Codable { var name = "Milk"; var count = 2 }
    ///     try JSONValue(encoding: Milk())                // {"name":"Milk","count":2}
    ///
    /// Members are in the order in which their keys are first encoded; for a synthesized conformance that is the
    /// order of declaration. Unordered collections are sorted, so that equal values have equal bytes in every
    /// process: a dictionary's members by the UTF-8 of their names, or by their keys if these are not names, and a
    /// `Set` by CouchDB's order of values.
    ///
    /// A `Float` or `Double` has the fewest digits that parse as the same value, with a point or an exponent.
    /// `Date`, `Data`, `URL` and `Decimal` are encoded in forms that every peer can read; ``DocumentCoding`` lists
    /// them. Other types are encoded by their own conformance.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - coding: The form of dates and bytes; by default that of the value's type (``DocumentModel/coding``).
    /// - Throws: `EncodingError.invalidValue` with the coding path: for infinity and NaN, past ``JSONLimits/depth``
    ///   levels, if the whole value encodes nothing or requests two kinds of container at one place; and errors of
    ///   the value's own `encode(to:)`.
    /// - Complexity: O(*n*) in encoded values, O(*n* log *n*) in a dictionary's members.
    public init(encoding value: some Encodable, coding: DocumentCoding? = nil) throws {
        try self.init(encoding: value, by: (coding ?? .of(type(of: value))).rules)
    }

    init(encoding value: some Encodable, by rules: CodingRules) throws {
        let node = JSONEncodingNode(path: [], rules: rules)
        try node.encode(value)
        guard !node.isEmpty else {
            throw node.invalid(value, "the value did not encode anything")
        }
        self = try node.json()
    }

    /// Decodes a value by its `Decodable` conformance.
    ///
    ///     try JSONValue(parsing: #"{"name":"Milk","count":2}"#).decode(Milk.self)
    ///
    /// An integer property accepts any spelling of an exact integer, `2`, `2.0` and `2e0` alike, but not `2.5`; a
    /// float property accepts integers, too. Members without a property are ignored.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - coding: The form of dates and bytes; by default that of the type (``DocumentModel/coding``).
    /// - Returns: The value.
    /// - Throws: `DecodingError` with the coding path: `keyNotFound`, `valueNotFound` for `null`, `typeMismatch` for
    ///   another kind of value, `dataCorrupted` for a number that the type can't represent; and errors of the type's own
    ///   `init(from:)`.
    /// - Complexity: O(*n*) in decoded values.
    public func decode<T: Decodable>(_ type: T.Type, coding: DocumentCoding? = nil) throws -> T {
        try JSONDecoding(value: self, codingPath: [], rules: (coding ?? .of(type)).rules).decode(type)
    }

    /// Encodes a model as a document, with its id as the member `_id`.
    init(encodingDocument model: some Encodable) throws {
        try self.init(encoding: model, by: .document(type(of: model)))
    }

    /// Decodes a document's members; the model gets the id for its property `id`, and may have the id and the revision under the
    /// keys `_id` and `_rev`.
    package func decode<T: Decodable>(_ type: T.Type, of identity: DocumentIdentity) throws -> T {
        try JSONDecoding(value: self, codingPath: [], rules: .document(type, identity: identity)).decode(type)
    }
}

extension JSONValue: Codable {
    /// Encodes the value. Settle's own encoder keeps it unchanged, including the spelling of numbers.
    ///
    /// Another encoder converts integers of more than 128 bits to floats.
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

    /// Decodes any value. Settle's own decoder keeps it unchanged, including the spelling of numbers.
    ///
    /// With another decoder, members have the order in which it lists them, and integers of more than 128 bits become
    /// floats.
    ///
    /// - Throws: `DecodingError` if the decoder's value has no JSON equivalent.
    public init(from decoder: any Decoder) throws {
        if let own = decoder as? JSONDecoding {
            self = own.value
        } else if let container = try? decoder.container(keyedBy: JSONCodingKey.self) {
            self = .object(
                JSONObject(
                    try container.allKeys.map { ($0.stringValue, try container.decode(JSONValue.self, forKey: $0)) }))
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
            self = .array(elements)
        } else {
            self = try JSONValue(single: decoder.singleValueContainer())
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
        } else if let wide = try? container.decode(Int128.self) {
            self = .number(JSONNumber(wide))
        } else if let number = JSONNumber(try container.decode(Double.self)) {
            self = .number(number)
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "JSON has no such number")
        }
    }
}
