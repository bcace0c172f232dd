public import SettleCore

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
    /// - Throws: ``DatabaseError`` with code `notFound` if the document does not exist; `invalid` if the closure
    ///   gave the document another id; errors of a save, except for conflicts with other writers; errors of the
    ///   closure. Nothing is then written.
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
        // Inside a transaction, reads and edits see the same state. So a conflict there is final: the closure
        // itself has written the document.
        return try transaction { try updateOnce(id, change) }
    }

    /// Updates a document as ``update(_:_:)`` does, with a closure that may leave it unchanged.
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

    /// Thrown if the closure changed nothing.
    private struct Unchanged: Error {}

    /// Reads a document, changes it, and saves it as an edit of the revision that was read.
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

// MARK: - Delete

extension Database {
    /// Deletes a document by storing a tombstone on the revision it was read at.
    ///
    /// The tombstone replicates, so that the document is deleted at all peers. It is empty except for the members
    /// to keep. A filtered replication replicates a deletion only if the tombstone still has the members that the
    /// filter tests (SEMANTICS 131, K19). In a document with conflicts only this leaf is deleted (SEMANTICS 201).
    ///
    /// - Parameters:
    ///   - document: The document as it was read.
    ///   - keeping: The members that the tombstone keeps, in addition to ``attributesKeptOnDelete()``: names, like
    ///     `["owner"]`, or ``KeptAttributes/all``. Those of a closing tombstone (`$closed`, `$kept`, `$resolver`) are
    ///     not kept.
    ///   - adding: Members to add to the tombstone, such as the name of the user who deleted the document; they
    ///     replace kept members of the same name.
    ///   - conflict: The action if the document was changed since it was read. If the last write or the deletion
    ///     wins, a document that is already deleted or purged stays unchanged (SEMANTICS 51); with a handler that
    ///     merges, a deleted one does. A branch deletes the revision that was read, and later edits stay.
    /// - Returns: The tombstone; `nil` if there was nothing to delete.
    /// - Throws: ``DatabaseError`` with code `notFound` for a document that was never saved or was purged,
    ///   `conflict`, `refused`, `invalid` for an added member of a closing tombstone; errors of a save.
    @discardableResult
    public func delete(
        _ document: Document, keeping: KeptAttributes = [], adding: DocumentBody = .empty,
        onConflict conflict: SaveConflict = .fail
    ) throws -> Document? {
        try adding.check(of: document.id)
        let content = try TombstoneContent(keeping: keeping.union(attributesKeptOnDelete()), adding: adding)
        switch conflict {
        case .fail, .lastWriteWins, .deletesWin, .branch:
            return try edit { try Self.delete(document, content, onConflict: conflict, with: $0) }
        case .merge(let handler):
            return try merging(document, handler) { new -> Document? in
                try edit { editor in
                    do { return try Self.delete(new, content, onConflict: .fail, with: editor) } catch let error
                        as DatabaseError where error.code == .conflict && new.revision != nil
                    {
                        // With ``DatabaseOptions/Reads/local`` it may be deleted here while a peer's edit waits.
                        let current = try tree(of: new.id).flatMap(options.reads.current(in:))
                        guard current?.isDeleted == true else { throw error }
                        return nil
                    }
                }
            }
        }
    }

    /// Deletes the current document with an id, like ``delete(_:keeping:adding:onConflict:)`` with the last write
    /// winning.
    ///
    /// - Throws: ``DatabaseError`` with code `notFound` if the document does not exist, `invalid` for an invalid
    ///   id.
    @discardableResult
    public func delete(
        _ id: some DocumentIDConvertible, keeping: KeptAttributes = [], adding: DocumentBody = .empty
    ) throws -> Document? {
        let id = try id.ofDocument()
        return try transaction {
            // Only the tree is read, so that a damaged document can be deleted, too.
            guard let current = try tree(of: id).flatMap(options.reads.current(in:)), !current.isDeleted else {
                throw DatabaseError(.notFound, "there is no document \"\(id)\" to delete")
            }
            let document = Document(
                id: id, revision: current.revision, isDeleted: false, RevisionContent(body: .empty), origin: identity)
            return try delete(document, keeping: keeping, adding: adding, onConflict: .fail)
        }
    }

    /// The body of a document's tombstone: those of its members that this database keeps on deletion.
    package func tombstoneBody(of body: DocumentBody?) throws -> DocumentBody {
        try TombstoneContent(keeping: KeptAttributes(attributesKeptOnDelete())).body(of: body)
    }

    /// The top-level members that every tombstone of this database keeps; empty by default.
    public func attributesKeptOnDelete() throws -> Set<String> {
        guard let text = try engine.read({ try $0.setting("members_kept_on_delete") }) else { return [] }
        return Set(((try? JSONValue(parsing: text))?.array ?? []).compactMap(\.string))
    }

    /// Sets the top-level members that every tombstone of this database keeps, such as those that its filters test.
    public func setAttributesKeptOnDelete(_ names: Set<String>) throws {
        let list = names.isEmpty ? nil : JSONValue.array(names.sorted().map(JSONValue.string)).description
        try engine.commit { try $0.setSetting("members_kept_on_delete", to: list) }
    }

    static func delete(
        _ document: Document, _ content: TombstoneContent, onConflict conflict: SaveConflict,
        with editor: DocumentEditor
    ) throws -> Document? {
        // For a delete, the two options mean the same.
        let overwrites = conflict.isLastWriteWins || conflict.isDeletesWin
        let record = try editor.writer.storedRecord(of: document.id, withContent: true)?.checkedTree()
        guard let record, let current = editor.options.reads.current(in: record.tree) else {
            if overwrites, document.revision != nil { return nil }
            throw DatabaseError(.notFound, "there is no document \"\(document.id)\" to delete")
        }
        if overwrites, current.isDeleted { return nil }
        let target =
            if conflict.isBranch { try branchPoint(document.revision, of: document.id, in: record) } else {
                overwrites ? current.revision : document.revision
            }
        guard let target, let node = record.tree[target], node.isLeaf || conflict.isBranch, !node.isDeleted else {
            throw Self.conflict(document, current)
        }
        let body = try content.body(of: editor.content(of: target, in: record)?.body)
        let edit = DocumentEdit(id: document.id, parent: target, isDeleted: true, body: body)
        return try editor.document(by: edit, in: record)
    }
}
