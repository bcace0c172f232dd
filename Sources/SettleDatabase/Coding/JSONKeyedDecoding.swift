internal import SettleCore

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

    /// A member's value; at the top also the document's id and revision, which are not members of its body.
    private func value(_ key: Key) -> JSONValue? {
        guard codingPath.isEmpty, let identity = rules.identity else { return members[key.stringValue] }
        let name = rules.name(of: key, in: codingPath)
        return identity[name] ?? members[name]
    }

    /// A member's decoder; that of `null` if it is missing, because a superclass may need nothing.
    private func place(_ key: some CodingKey) -> JSONDecoding {
        JSONDecoding(value: members[key.stringValue] ?? .null, codingPath: codingPath + [key], rules: rules)
    }

    /// The document's id, if a key stands for that.
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
