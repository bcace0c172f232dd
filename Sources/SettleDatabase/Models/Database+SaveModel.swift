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
        guard let record = try engine.read({ try $0.record(of: saved.id, withContent: true) }),
            let winner = record.tree.winner
        else {
            throw DatabaseError(.notFound, "\"\(saved.id)\" is not in the database any more; it was purged")
        }
        if read.revision == winner.revision { return saved }
        guard let document = document(at: winner, record.content, of: saved.id) else { throw Self.conflict(read, winner) }
        return try Saved(document)
    }

    /// Saves an edit of a document; if that was changed since it was read, merged with the newer state.
    ///
    /// - Parameters:
    ///   - edited: The document with the edit.
    ///   - base: The document as it was read.
    ///   - conflict: What to do if both changed the same member.
    /// - Returns: What was stored, and whether it has changes of others.
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
                guard let record = try engine.read({ try $0.record(of: base.id, withContent: true) }),
                    let winner = record.tree.winner
                else { throw error }
                guard mine.revision != winner.revision else { throw error }
                guard let current = document(at: winner, record.content, of: base.id) else {
                    guard conflict.isLastWriteWins else { throw Self.conflict(base, winner) }
                    (mine, isMerged) = (edited, true)
                    mine.revision = winner.revision
                    mine.attachments = base.attachments
                    return (try save(mine, onConflict: .lastWriteWins), true)
                }
                mine = try MemberClashes.merge(edited, of: base, into: current, isLastWriteWins: !conflict.isFail)
                isMerged = true
            }
        }
    }

    /// The winner as a document; `nil` for a deletion, and for content that can't be read.
    private func document(at winner: RevisionNode, _ content: RevisionContent?, of id: DocumentID) -> Document? {
        guard !winner.isDeleted, let content else { return nil }
        return Document(id: id, revision: winner.revision, isDeleted: false, content, origin: identity)
    }

    /// The error for a model whose document is deleted.
    func deleted(_ document: Document) throws -> DatabaseError {
        guard let winner = try tree(of: document.id)?.winner else { return DatabaseError(.notFound, "") }
        return Self.conflict(document, winner)
    }
}
