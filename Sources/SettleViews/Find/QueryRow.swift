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
