public import SettleCore
public import SettleDatabase

/// A row of a view.
public struct MapIndexRow<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
    /// The id of the document it was emitted for.
    public let id: DocumentID
    /// The key.
    public let key: Key
    /// The value.
    public let value: Value

    init(_ row: IndexRow) throws {
        id = DocumentID(unchecked: String(decoding: row.id, as: UTF8.self))
        key = try ViewCoding.decode(Key.self, row.key)
        value = try ViewCoding.decode(Value.self, row.value)
    }

    /// Reads the current document; `nil` when it was deleted meanwhile.
    ///
    /// - Throws: ``DatabaseError`` when the database can't be read.
    public func document(in database: Database) throws -> Document? { try database.document(id) }
}

extension MapIndexRow: Equatable where Key: Equatable, Value: Equatable {}

/// Converts keys and values of views to JSON text and back.
enum ViewCoding {
    /// Encodes a value; `nil` for one that JSON can't represent.
    static func encode(_ value: some Encodable) -> [UInt8]? {
        switch value {
        case let value as JSONValue: return value.utf8
        case let value as Int: return Array(String(value).utf8)
        case let value as String:
            var bytes: [UInt8] = []
            JSONValue.append(value, to: &bytes)
            return bytes
        default: return (try? JSONValue(encoding: value))?.utf8
        }
    }

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError` for a value of another type, or ``JSONError``.
    static func decode<Value: Decodable>(_ type: Value.Type, _ text: some Collection<UInt8>) throws -> Value {
        if type == Int.self, let number = Int(String(decoding: text, as: UTF8.self)) as? Value { return number }
        let json = try JSONValue(utf8: Array(text))
        return try json as? Value ?? json.decode(type)
    }
}
