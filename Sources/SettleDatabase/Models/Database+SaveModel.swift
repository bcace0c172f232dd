internal import SettleCore

/// How a model becomes a revision: on the one it was read at, or merged with newer ones.
extension Database {
    /// Saves a model that says which revision it was read at, under the coding key `_rev`.
    func save<Model: Codable>(
        _ model: Model, _ content: ModelContent, _ id: DocumentID, readAt revision: RevisionID,
        onConflict conflict: SaveConflict
    ) throws -> Saved<Model> {
        var base = try document(id, revision: revision) ?? Document(id: id)
        base.revision = revision
        base.isDeleted = false
        // A document that is not such a model has nothing that the model could have changed.
        let before = try (try? base.decode(Model.self)).map { try ModelContent($0) }
        var mine = base
        try mine.apply(ModelChange(from: before ?? .empty, to: content, of: Model.self), of: Model.self)
        return Saved.read(try saveEdit(mine, of: base, onConflict: conflict).document, else: model)
    }

    /// Sets the members that a model knows, in the document that is stored now.
    func overwrite<Model: Codable>(_ model: Model, _ content: ModelContent, _ id: DocumentID) throws -> Saved<Model> {
        let stored = try updateOrCreate(id) { document in
            let before = try (try? document.decode(Model.self)).map { try ModelContent($0) }
            try document.apply(ModelChange(from: before ?? .empty, to: content, of: Model.self), of: Model.self)
        }
        return Saved.read(stored, else: model)
    }

    /// The model as it is stored now, for one that was not changed.
    func current<Model: Codable>(_ saved: Saved<Model>, _ read: Document) throws -> Saved<Model> {
        guard let current = try current(saved.id) else {
            throw DatabaseError(.notFound, "\"\(saved.id)\" is not in the database any more; it was purged")
        }
        if read.revision == current.revision { return saved }
        guard !current.isDeleted else { throw try conflict(read) }
        return try Saved(current)
    }

    /// Saves an edit of a document; if that was changed since it was read, merged with the newer state.
    ///
    /// - Parameters:
    ///   - edited: The document with the edit.
    ///   - base: The document as it was read.
    ///   - conflict: What to do if both changed the same member.
    /// - Returns: What was stored, and whether it has changes of others.
    /// - Throws: ``DatabaseError`` with code `conflict`, and as a save. Nothing is written then.
    func saveEdit(
        _ edited: Document, of base: Document, onConflict conflict: SaveConflict
    ) throws -> (document: Document, isMerged: Bool) {
        switch conflict {
        case .branch, .merge: return (try save(edited, onConflict: conflict), true)
        case .fail, .lastWriteWins, .deletesWin: break
        }
        var (mine, isMerged) = (edited, false)
        while true {
            do { return (try save(mine, onConflict: .fail), isMerged) } catch let error as DatabaseError
                where error.code == .conflict
            {
                guard var current = try current(base.id), current.revision != mine.revision else { throw error }
                if current.isDeleted {
                    guard conflict.isLastWriteWins else { throw try self.conflict(base) }
                    current.json = edited.json
                    current.attachments = edited.attachments
                    return (try save(current, onConflict: .lastWriteWins), true)
                }
                mine = try MemberClashes.merge(edited, of: base, into: current, isLastWriteWins: !conflict.isFail)
                isMerged = true
            }
        }
    }

    /// The error for a document that was not read as it is stored now.
    func conflict(_ document: Document) throws -> DatabaseError {
        guard let tree = try tree(of: document.id), let current = options.reads.current(in: tree) else {
            return DatabaseError(.notFound, "\"\(document.id)\" is not in the database any more; it was purged")
        }
        return Self.conflict(document, current)
    }
}
