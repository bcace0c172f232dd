public import SettleCore

/// A document that stays in this database: it never replicates and never appears in a changes feed (SEMANTICS 203).
///
/// Replicators store their checkpoints in such documents. A local document has no tree, only a counter of its
/// writes: the revision `0-N`.
public struct LocalDocument: Sendable, Hashable {
    /// The id, which starts with `_local/`.
    public let id: DocumentID
    /// The number of times that the document was written: the N of its revision `0-N`.
    public let revisionNumber: Int64
    /// The members.
    public let body: DocumentBody

    /// Creates a local document.
    public init(id: DocumentID, revisionNumber: Int64, body: DocumentBody) {
        self.id = id
        self.revisionNumber = revisionNumber
        self.body = body
    }

    /// The revision in CouchDB's form, `0-N`.
    public var revision: String { "0-\(revisionNumber)" }
}

// MARK: - Local Documents

extension Database {
    /// A local document, or `nil`.
    ///
    /// - Parameter id: The id, which starts with `_local/`.
    /// - Returns: The document, or `nil`.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    public func localDocument(_ id: DocumentID) throws -> LocalDocument? {
        try engine.read { try $0.localDocument(id) }
    }

    /// Writes a local document, replacing any content; its revision increases by one.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if the id does not start with `_local/`, or the body can't be stored.
    @discardableResult
    public func saveLocalDocument(_ id: DocumentID, body: DocumentBody) throws -> LocalDocument {
        try id.check()
        guard id.isLocal else { throw DatabaseError(.invalid, "\"\(id)\" must start with _local/") }
        try body.check(of: id)
        return try engine.commit { writer in
            let (number, isPastEnd) = try (writer.localDocument(id)?.revisionNumber ?? 0).addingReportingOverflow(1)
            guard !isPastEnd else { throw DatabaseError(.corrupt, "the revision of \"\(id)\" is past all numbers") }
            let document = LocalDocument(id: id, revisionNumber: number, body: body)
            try writer.put(document)
            return document
        }
    }

    /// Writes a local document if it is unchanged since it was read.
    ///
    /// - Parameters:
    ///   - id: The id, which starts with `_local/`.
    ///   - body: The members.
    ///   - revision: The revision it was read at, or `nil` if it did not exist.
    /// - Returns: The new document.
    /// - Throws: ``DatabaseError`` with code `conflict` if it has another revision, or `invalid` for an invalid id.
    package func saveLocalDocument(
        _ id: DocumentID, body: DocumentBody, expecting revision: String?
    ) throws -> LocalDocument {
        try engine.commit { [self] writer in
            let stored = try writer.localDocument(id)?.revision
            guard stored == revision else {
                let found = stored ?? "none"
                throw DatabaseError(.conflict, "\"\(id)\" was written meanwhile: \(found) is stored")
            }
            return try saveLocalDocument(id, body: body)
        }
    }

    /// Deletes a local document; returns whether it existed.
    @discardableResult
    public func deleteLocalDocument(_ id: DocumentID) throws -> Bool {
        try engine.commit { writer in
            guard try writer.localDocument(id) != nil else { return false }
            try writer.remove(.local(id))
            return true
        }
    }

    /// Local documents in the order of their ids.
    ///
    /// - Parameters:
    ///   - after: The id to continue after, or `nil` for the beginning.
    ///   - limit: The maximum number of documents; unlimited by default. If there may be very many, read them page
    ///     by page.
    /// - Returns: The local documents.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    public func localDocuments(after: DocumentID? = nil, limit: Int = .max) throws -> [LocalDocument] {
        try engine.read { try $0.localDocuments(after: after, limit: max(limit, 0)) }
    }
}
