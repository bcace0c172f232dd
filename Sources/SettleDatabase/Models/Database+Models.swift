internal import SettleCore

extension Database {
    /// Saves a new model as a document, and makes an id if it has none.
    ///
    ///     struct Note: Codable, Identifiable { var id: String?; var title: String }
    ///
    ///     var note = try database.save(Note(title: "Milk"))
    ///     print(note.id, note.revision)
    ///
    /// The property `id` is the document's id, and no member of it. The result is the model as it is stored, with its id; change that
    /// and save it again. A plain model with the id of a document that is stored already is an edit of nothing that was read, so by
    /// default it is refused. One with a revision, under the coding key `_rev`, is an edit of that revision, as a ``Saved``.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - conflict: What to do if there is, or was, a document with the id. By default nothing is written, so no edit is lost. With
    ///     ``SaveConflict/lastWriteWins`` the members that the model knows are set to its own, and other members and attachments stay.
    /// - Returns: The model as stored.
    /// - Throws: ``DatabaseError`` with code `conflict`, and as for a document; ``InvalidIdentifier`` for an id or a revision that
    ///   can't be one; `EncodingError`.
    @discardableResult
    public func save<Model: Codable & Identifiable>(
        _ model: Model, onConflict conflict: SaveConflict = .fail
    ) throws -> Saved<Model> where Model.ID: DocumentIDConvertible {
        let content = try ModelContent(model)
        let id = try model.id.documentID ?? content.id ?? .unique()
        if let revision = try content.revision {
            return try save(model, content, id, readAt: revision, onConflict: conflict)
        }
        let document = try Document(id: id, content)
        switch conflict {
        case .fail:
            do {
                let stored = try edit {
                    try Self.save(document, document.body(), onConflict: .fail, revives: false, with: $0)
                }
                // The model lacks nothing but an id that was made here.
                return try content.id == nil ? Saved.read(stored, else: model) : Saved(stored, model)
            } catch let error as DatabaseError where error.code == .conflict { throw Self.unread(error) }
        case .lastWriteWins: return try overwrite(model, content, id)
        case .deletesWin:
            guard try current(id)?.isDeleted != true else { throw Self.unread(try self.conflict(document)) }
            return try overwrite(model, content, id)
        case .branch, .merge: return Saved.read(try save(document, onConflict: conflict), else: model)
        }
    }

    /// Saves new models in one transaction; one that can't be saved does not stop the others.
    ///
    /// - Returns: For each model, in order, what was stored or the error.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails; nothing is written then.
    @discardableResult
    public func saveAll<Model: Codable & Identifiable>(
        _ models: [Model], onConflict conflict: SaveConflict = .fail
    ) throws -> [Result<Saved<Model>, any Error>] where Model.ID: DocumentIDConvertible {
        try transaction { try models.map { model in try Self.outcome { try save(model, onConflict: conflict) } } }
    }

    /// Saves what was changed in a model since it was read.
    ///
    ///     var milk = try database.find(query)[0]
    ///     milk.count += 1
    ///     try database.save(&milk)
    ///
    /// It is an edit of exactly the revision that was read. If another writer has saved the document since, the members that were
    /// changed here are changed in the newer one, by the three-way merge that conflicts have; elements of lists that have an identity
    /// are merged one by one. If both changed the same member to different values, `conflict` decides. A model that was not changed is
    /// not written.
    ///
    /// - Parameters:
    ///   - saved: The model. Afterwards it is as stored, with what others have changed.
    ///   - conflict: What to do if both changed the same member, or the document was deleted. By default nothing is written and the
    ///     call throws. With ``SaveConflict/lastWriteWins`` the members changed here win.
    /// - Throws: ``DatabaseError`` with code `conflict` that names the members, with ``MemberClashes`` as cause; `invalid` if only some
    ///   members were read, or if the model's `id` is another; `EncodingError`; and as for a document. Nothing is written then.
    public func save<Model: Codable>(_ saved: inout Saved<Model>, onConflict conflict: SaveConflict = .fail) throws {
        saved = try save(saved, onConflict: conflict)
    }

    /// Saves what was changed in a model since it was read, as ``save(_:onConflict:)-(Saved<Model>,_)`` does.
    ///
    /// - Returns: The model as stored, with what others have changed.
    @discardableResult
    public func save<Model: Codable>(
        _ saved: Saved<Model>, onConflict conflict: SaveConflict = .fail
    ) throws -> Saved<Model> {
        guard let document = saved.document else {
            throw DatabaseError(
                .invalid, "only some members of \"\(saved.id)\" were read; read the whole document to change it")
        }
        let change = try saved.change(of: document)
        if change.isEmpty { return try current(saved, document) }
        var mine = document
        try mine.apply(change, of: Model.self)
        let stored = try saveEdit(mine, of: document, as: Model.self, change.identities, onConflict: conflict)
        return stored.isMerged || change.hasRevision
            ? Saved.read(stored.document, else: saved.value) : Saved(stored.document, saved.value)
    }

    /// Saves what was changed in many models since they were read, in one transaction; one that can't be saved does not stop the others.
    ///
    /// - Returns: For each model, in order, what was stored or the error.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails; nothing is written then.
    @discardableResult
    public func saveAll<Model: Codable>(
        _ saved: [Saved<Model>], onConflict conflict: SaveConflict = .fail
    ) throws -> [Result<Saved<Model>, any Error>] {
        try transaction { try saved.map { saved in try Self.outcome { try save(saved, onConflict: conflict) } } }
    }

    /// Reads a document as a model; `nil` for a missing or deleted document.
    ///
    /// - Throws: `DecodingError` with the path of the mismatch, and the document and the model in its description; ``DatabaseError``
    ///   when the database can't be read.
    public func document<Model: Decodable>(
        _ id: some DocumentIDConvertible, as type: Model.Type
    ) throws -> Saved<Model>? {
        try document(id).map { try Saved($0) }
    }

    /// Reads a document as a model, changes that with a closure, and saves it; again with the new state if another writer saved
    /// it in between, so no edit is overwritten (SEMANTICS 146).
    ///
    ///     try database.update("milk", as: Item.self) { $0.count += 1 }
    ///
    /// Only what the closure changes is changed; see ``Saved``. If it changes nothing, nothing is written.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - type: The model's type.
    ///   - change: Changes the model. It may be called several times.
    /// - Returns: The model as stored.
    /// - Throws: ``DatabaseError`` with code `notFound` if there is no such document; `DecodingError`; errors of the closure; and as
    ///   a save. Nothing is written then.
    @discardableResult
    public func update<Model: Codable>(
        _ id: some DocumentIDConvertible, as type: Model.Type, _ change: (inout Model) throws -> Void
    ) throws -> Saved<Model> {
        let id = try id.ofDocument()
        var read = Document(id: id)
        var edit: (model: Model, change: ModelChange)?
        let stored = try updateIfNeeded(id) { document in
            read = document
            let made = try document.edit(as: type, change)
            edit = made
            return !made.change.isEmpty
        }
        // A model that carries its revision is decoded anew, as is one after a closure that changed nothing.
        guard let stored, let edit, !edit.change.hasRevision else { return try Saved(stored ?? read) }
        return Saved(stored, edit.model)
    }

    /// Deletes the document of a model, if it is still at the revision that was read.
    ///
    /// - Parameters:
    ///   - saved: The model as it was read.
    ///   - conflict: What to do if the document was changed since, as for a document.
    /// - Returns: The tombstone; `nil` if there was nothing to delete.
    /// - Throws: As ``delete(_:keeping:adding:onConflict:)``, and `invalid` if only some members were read.
    @discardableResult
    public func delete<Model>(_ saved: Saved<Model>, onConflict conflict: SaveConflict = .fail) throws -> Document? {
        guard let document = saved.document else {
            throw DatabaseError(
                .invalid, "only some members of \"\(saved.id)\" were read; delete it by its id")
        }
        return try delete(document, onConflict: conflict)
    }

    /// Deletes the document of a plain model, whatever its revision is now; one that carries a revision, under the coding key `_rev`, only
    /// if the document is still at that.
    ///
    /// - Returns: The tombstone.
    /// - Throws: ``DatabaseError`` with code `notFound` if there is no such document or the model has no id, and `conflict`;
    ///   ``InvalidIdentifier``; `EncodingError`.
    @discardableResult
    public func delete<Model: Codable & Identifiable>(_ model: Model) throws -> Document?
    where Model.ID: DocumentIDConvertible {
        let content = try ModelContent(model)
        guard let id = try model.id.documentID ?? content.id else {
            throw DatabaseError(.notFound, "a model without an id was never saved, so there is nothing to delete")
        }
        guard let revision = try content.revision else { return try delete(id) }
        var document = try document(id, revision: revision) ?? Document(id: id)
        document.revision = revision
        return try delete(document)
    }
}
