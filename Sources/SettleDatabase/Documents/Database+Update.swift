internal import SettleCore

extension Database {
    /// Reads a document, changes it with a closure, and saves it. If another writer saved it in between, the closure is
    /// called again with the new state, so no edit is overwritten (SEMANTICS 146).
    ///
    ///     try database.update("milk") { $0["bought"] = true }
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - change: Changes the document. The closure may be called several times, the last time within a transaction.
    /// - Returns: The document as stored.
    /// - Throws: ``DatabaseError`` with code `notFound` if there is no such document; errors of the closure, and nothing is
    ///   written then; `invalid` if it gave the document another id, and as a save except for conflicts with other writers.
    @discardableResult
    public func update(_ id: some DocumentIDConvertible, _ change: (inout Document) throws -> Void) throws -> Document {
        let id = try id.ofDocument()
        return try updateOrCreate(id) { document in
            guard document.revision != nil else {
                throw DatabaseError(
                    .notFound, "there is no \"\(id)\" to update; save a new one, or call updateOrCreate")
            }
            try change(&document)
        }
    }

    /// Updates a document as ``update(_:_:)`` does, or creates it.
    ///
    ///     try database.updateOrCreate("visits") { $0["count"] = .number(JSONNumber(($0["count"]?.int ?? 0) + 1)) }
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - change: Changes the document. A missing or deleted document is passed without a revision, and saving creates
    ///     it. The closure may be called several times, the last time within a transaction.
    /// - Returns: The document as stored.
    /// - Throws: As ``update(_:_:)``, except for `notFound`.
    @discardableResult
    public func updateOrCreate(
        _ id: some DocumentIDConvertible, _ change: (inout Document) throws -> Void
    ) throws -> Document {
        let id = try id.ofDocument()
        for _ in 0..<1000 {
            let before = try document(id)?.revision
            do { return try updateOnce(id, change) } catch let error as DatabaseError where error.code == .conflict {
                // The other writer's revision may not be visible to readers yet.
                guard try document(id)?.revision != before else { break }
            }
        }
        // Inside a transaction reads and edits see the same state, so a conflict there is final: the closure itself has written the
        // document.
        return try transaction { try updateOnce(id, change) }
    }

    /// Updates a document as ``update(_:_:)`` does, with a closure that may leave it as it is.
    ///
    ///     try database.updateIfNeeded("milk") { milk in
    ///         guard milk["bought"] != true else { return false }
    ///         milk["bought"] = true
    ///         return true
    ///     }
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - change: Changes the document, or returns `false` to change nothing.
    /// - Returns: The document as stored; `nil` if the closure returned `false`.
    /// - Throws: As ``update(_:_:)``.
    @discardableResult
    public func updateIfNeeded(
        _ id: some DocumentIDConvertible, _ change: (inout Document) throws -> Bool
    ) throws -> Document? {
        do {
            return try update(id) { (document: inout Document) throws -> Void in
                guard try change(&document) else { throw Unchanged() }
            }
        } catch is Unchanged { return nil }
    }

    /// A closure changed nothing.
    private struct Unchanged: Error {}

    /// Reads a document, changes it, and saves it on the revision that was read.
    private func updateOnce(_ id: DocumentID, _ change: (inout Document) throws -> Void) throws -> Document {
        let current = try document(id)
        var document = current ?? Document(id: id)
        try change(&document)
        guard document.id == id else {
            throw DatabaseError(.invalid, "an update of \"\(id)\" can't change the id, here to \"\(document.id)\"")
        }
        document.revision = current?.revision
        return try save(document, onConflict: .fail)
    }
}
