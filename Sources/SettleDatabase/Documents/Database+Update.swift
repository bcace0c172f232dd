public import SettleCore

extension Database {
    /// Reads a document, changes it with a closure, and saves it. If another writer saved it in between, the closure is
    /// called again with the new state, so no edit is overwritten (SEMANTICS 146).
    ///
    ///     try database.update("milk") { milk in
    ///         guard milk["bought"] != true else { return false }
    ///         milk["bought"] = true
    ///         return true
    ///     }
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - change: Changes the document. A missing or deleted document is passed without a revision, and saving creates
    ///     it. The closure may be called several times, the last time within a transaction, and returns `false` to
    ///     change nothing.
    /// - Returns: The document as stored; `nil` if the closure returned `false`.
    /// - Throws: Errors of the closure, and nothing is written then; ``DatabaseError`` with code `invalid` if it gave
    ///   the document another id, and as ``save(_:onConflict:)`` except for conflicts with other writers.
    @discardableResult
    public func update(_ id: DocumentID, _ change: (inout Document) throws -> Bool) throws -> Document? {
        while true {
            let before = try document(id)?.revision
            do { return try updateOnce(id, change) } catch let error as DatabaseError where error.code == .conflict {
                // The other writer's revision may not be visible to readers yet. Inside a transaction reads and edits
                // see the same state, so a conflict there is final.
                guard try document(id)?.revision != before else {
                    return try transaction { try updateOnce(id, change) }
                }
            }
        }
    }

    /// Reads a document, changes it, and saves it on the revision that was read.
    private func updateOnce(_ id: DocumentID, _ change: (inout Document) throws -> Bool) throws -> Document? {
        let current = try document(id)
        var document = current ?? Document(id: id)
        guard try change(&document) else { return nil }
        guard document.id == id else {
            throw DatabaseError(.invalid, "an update of \"\(id)\" can't change the id, here to \"\(document.id)\"")
        }
        document.revision = current?.revision
        return try save(document, onConflict: .fail)
    }
}
