public import SettleCore
public import SettleDatabase

/// A row of a view.
public struct ViewRow<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
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

extension ViewRow: Equatable where Key: Equatable, Value: Equatable {}
