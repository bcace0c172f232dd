public import SettleCore
public import SettleDatabase

/// A document that a query found.
public struct QueryRow<Model: Sendable>: Sendable, Identifiable {
    /// The document's id.
    public let id: DocumentID
    /// The revision that was found; `nil` if only some members were requested.
    public let revision: RevisionID?
    /// Its members as a model, without `_id` and `_rev` unless they were requested.
    public let value: Model

    /// Reads the current document; `nil` when it was deleted meanwhile.
    ///
    /// - Throws: ``DatabaseError`` when the database can't be read.
    public func document(in database: Database) throws -> Document? { try database.document(id) }
}

extension QueryRow: Equatable where Model: Equatable {}

extension QueryRow where Model: Decodable {
    init(_ found: FoundDocument) throws {
        (id, revision) = (found.id, found.revision)
        let identity = DocumentIdentity(id: id, revision: revision)
        switch found {
        case .whole(let record):
            let body = record.content?.body.json ?? .object(JSONObject())
            value = try body as? Model ?? body.decode(Model.self, of: identity)
        case .part(let json, _):
            value = try json as? Model ?? json.decode(Model.self, of: identity)
        }
    }
}
