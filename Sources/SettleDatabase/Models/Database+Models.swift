internal import SettleCore

extension Database {
    /// Saves a new model as a document, and creates an id if the model has none.
    ///
    ///     struct Note: Codable, Identifiable { var id: String?; var title: String }
    ///
    ///     var note = try database.save(Note(title: "Milk"))
    ///     print(note.id, note.revision)
    ///
    /// The property `id` is the document's id, and not a member of it, unless ``DocumentModel/idIsDocumentID`` says
    /// otherwise. The result is the model as it is stored, with its id; change that and save it again. If a document
    /// with the model's id is already stored, a plain model does not say which revision it changes, so by default it
    /// is refused. A model with a revision, under the coding key `_rev`, is an edit of that revision, like a
    /// ``Saved``.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - conflict: The action if a document with the id exists or existed. By default nothing is written, so no
    ///     edit is lost. With ``SaveConflict/lastWriteWins``, the members that the model has are set to its values,
    ///     and other members and attachments stay.
    /// - Returns: The model as stored.
    /// - Throws: ``DatabaseError`` with code `conflict`, and as for a document; ``InvalidIdentifier`` for an
    ///   invalid id or revision; `EncodingError`.
    @discardableResult
    public func save<Model: Codable & Identifiable>(
        _ model: Model, onConflict conflict: SaveConflict = .fail
    ) throws -> Saved<Model> where Model.ID: DocumentIDConvertible {
        let content = try ModelContent(model)
        let id = try content.id ?? .unique()
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
                // The model is complete except for an id that was created here.
                return try content.id == nil ? Saved.read(stored, else: model) : Saved(stored, model)
            } catch let error as DatabaseError where error.code == .conflict { throw Self.unread(error) }
        case .lastWriteWins: return try overwrite(model, content, id)
        case .deletesWin:
            // In a transaction no other writer can delete it after it was read.
            return try transaction {
                guard try current(id)?.isDeleted != true else { throw Self.unread(try self.conflict(document)) }
                return try overwrite(model, content, id)
            }
        case .branch, .merge: return Saved.read(try save(document, onConflict: conflict), else: model)
        }
    }

    /// Saves new models in one transaction, or one by one if a handler merges. A model that can't be saved does not
    /// stop the rest.
    ///
    /// - Returns: For each model, in order, the stored model or the error.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails; nothing is then written. With a handler that
    ///   merges, models that were saved before stay saved.
    @discardableResult
    public func saveAll<Model: Codable & Identifiable>(
        _ models: [Model], onConflict conflict: SaveConflict = .fail
    ) throws -> [Result<Saved<Model>, any Error>] where Model.ID: DocumentIDConvertible {
        try saveEach(models, onConflict: conflict) { try save($0, onConflict: conflict) }
    }

    /// Saves the changes that were made to a model since it was read.
    ///
    ///     var milk = try database.find(query)[0]
    ///     milk.count += 1
    ///     try database.save(&milk)
    ///
    /// It is an edit of exactly the revision that was read. If another writer has saved the document since, the
    /// changes are applied to the newer state, by the same three-way merge as for conflicts; elements of lists that
    /// have an identity are merged one by one. If both changed the same member to different values, `conflict`
    /// decides. A model that was not changed is not written.
    ///
    /// - Parameters:
    ///   - saved: The model. Afterwards it is the stored one, with the changes of other writers.
    ///   - conflict: The action if both changed the same member, or the document was deleted. By default nothing is
    ///     written and the call throws. With ``SaveConflict/lastWriteWins`` the members changed here win, and a
    ///     document that was purged is created again.
    /// - Throws: ``DatabaseError`` with code `conflict` that names the members, with ``AttributeClashes`` as cause;
    ///   `invalid` if only some members were read, or if the model's `id` was changed; `EncodingError`; and as for
    ///   a document. Nothing is then written.
    public func save<Model: Codable>(_ saved: inout Saved<Model>, onConflict conflict: SaveConflict = .fail) throws {
        saved = try save(saved, onConflict: conflict)
    }

    /// Saves the changes that were made to a model since it was read, like
    /// ``save(_:onConflict:)-(Saved<Model>,_)``.
    ///
    /// - Returns: The stored model, with the changes of other writers.
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

    /// Saves the changes that were made to many models since they were read, in one transaction, or one by one if a
    /// handler merges. A model that can't be saved does not stop the rest.
    ///
    /// - Returns: For each model, in order, the stored model or the error.
    /// - Throws: ``DatabaseError`` if the transaction as a whole fails; nothing is then written. With a handler that
    ///   merges, models that were saved before stay saved.
    @discardableResult
    public func saveAll<Model: Codable>(
        _ saved: [Saved<Model>], onConflict conflict: SaveConflict = .fail
    ) throws -> [Result<Saved<Model>, any Error>] {
        try saveEach(saved, onConflict: conflict) { try save($0, onConflict: conflict) }
    }

    /// Saves many models in one transaction, or one by one if a handler merges, because handlers are called outside of
    /// transactions.
    private func saveEach<Model, Stored>(
        _ models: [Model], onConflict conflict: SaveConflict, _ save: (Model) throws -> Stored
    ) throws -> [Result<Stored, any Error>] {
        func saveAll() throws -> [Result<Stored, any Error>] {
            try models.map { model in try Self.outcome { try save(model) } }
        }
        return conflict.isMerge ? try saveAll() : try transaction(saveAll)
    }

    /// Reads a document as a model; `nil` for a missing or deleted document.
    ///
    /// - Throws: `DecodingError` with the path of the mismatch, and the document and the model in its description;
    ///   ``DatabaseError`` if the database can't be read.
    public func document<Model: Decodable>(
        _ id: some DocumentIDConvertible, as type: Model.Type
    ) throws -> Saved<Model>? {
        try document(id).map { try Saved($0) }
    }

    /// Reads a document as a model, changes the model with a closure, and saves it. If another writer saved the
    /// document in between, the closure is called again with the new state, so no edit is overwritten (SEMANTICS
    /// 146).
    ///
    ///     try database.update("milk", as: Item.self) { $0.count += 1 }
    ///
    /// Only the members that the closure changes are written; see ``Saved``. If it changes nothing, nothing is
    /// written.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - type: The model's type.
    ///   - change: Changes the model. It may be called several times.
    /// - Returns: The model as stored.
    /// - Throws: ``DatabaseError`` with code `notFound` if the document does not exist; `DecodingError`; errors of
    ///   the closure and of a save. Nothing is then written.
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
        // If the model contains its revision, or the closure changed nothing, the model is decoded again.
        guard let stored, let edit, !edit.change.hasRevision else { return try Saved(stored ?? read) }
        return Saved(stored, edit.model)
    }

    /// Deletes the document of a model, if it is still at the revision that was read.
    ///
    /// - Parameters:
    ///   - saved: The model as it was read.
    ///   - conflict: The action if the document was changed since it was read, as for a document.
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

    /// Deletes the document of a plain model at any revision. If the model contains its revision, under the coding
    /// key `_rev`, the document must still be at that revision.
    ///
    /// - Returns: The tombstone.
    /// - Throws: ``DatabaseError`` with code `notFound` if the document does not exist or the model has no id, and
    ///   `conflict`; ``InvalidIdentifier``; `EncodingError`.
    @discardableResult
    public func delete<Model: Codable & Identifiable>(_ model: Model) throws -> Document?
    where Model.ID: DocumentIDConvertible {
        let content = try ModelContent(model)
        guard let id = try content.id else {
            throw DatabaseError(.notFound, "a model without an id was never saved, so there is nothing to delete")
        }
        guard let revision = try content.revision else { return try delete(id) }
        var document = try document(id, revision: revision) ?? Document(id: id)
        document.revision = revision
        return try delete(document)
    }
}

// MARK: - Save Model

/// Saves a model as a revision: based on the revision it was read at, or merged with newer ones.
extension Database {
    /// Saves a model that contains the revision it was read at, under the coding key `_rev`.
    func save<Model: Codable>(
        _ model: Model, _ content: ModelContent, _ id: DocumentID, readAt revision: RevisionID,
        onConflict conflict: SaveConflict
    ) throws -> Saved<Model> {
        let read = try document(id, revision: revision).flatMap { $0.isDeleted ? nil : $0 }
        var base = read ?? Document(id: id)
        base.revision = revision
        var mine = base
        let change = try ModelChange(from: Self.before(read, as: Model.self), to: content, of: Model.self, id)
        try mine.apply(change, of: Model.self)
        let stored = try saveEdit(mine, of: base, as: Model.self, change.identities, onConflict: conflict)
        return Saved.read(stored.document, else: model)
    }

    /// Sets the members that a model has, in the document that is stored now.
    func overwrite<Model: Codable>(_ model: Model, _ content: ModelContent, _ id: DocumentID) throws -> Saved<Model> {
        let stored = try updateOrCreate(id) { document in
            // A missing or deleted document has no revision here.
            let before = try Self.before(document.revision.map { _ in document }, as: Model.self)
            try document.apply(ModelChange(from: before, to: content, of: Model.self, id), of: Model.self)
        }
        return Saved.read(stored, else: model)
    }

    /// The members that a model had when it was read from a document, its default values among them; none without a
    /// document, so that a new document gets all members. If the document can't be decoded as the model, the model
    /// can't have changed any of its members.
    private static func before<Model: Codable>(_ document: Document?, as type: Model.Type) throws -> ModelContent {
        guard let model = document.flatMap({ try? $0.decode(type) }) else { return .empty }
        return try ModelContent(model)
    }

    /// The stored state of a model that was not changed.
    func current<Model: Codable>(_ saved: Saved<Model>, _ read: Document) throws -> Saved<Model> {
        guard let current = try current(saved.id) else {
            throw DatabaseError(
                .notFound,
                """
                "\(saved.id)" is not in the database; it was purged, or the transaction that saved it was rolled back; save it \
                as a new one
                """)
        }
        if read.revision == current.revision { return saved }
        guard !current.isDeleted, try isKnown(read) else { throw try conflict(read) }
        return try Saved(current)
    }

    /// Saves an edit of a document. If the document was changed since it was read, the edit is merged with the
    /// newer state.
    ///
    /// - Parameters:
    ///   - edited: The document with the edit.
    ///   - base: The document as it was read.
    ///   - model: The type that the result must be decodable as.
    ///   - identities: The names of members that identify elements of lists.
    ///   - conflict: The action if both changed the same member.
    /// - Returns: The stored document, and whether it contains changes of other writers.
    /// - Throws: ``DatabaseError`` with code `conflict`; `DecodingError` if the newer state can't be decoded as the
    ///   model; errors of a save. Nothing is then written.
    func saveEdit<Model: Decodable>(
        _ edited: Document, of base: Document, as model: Model.Type, _ identities: [String],
        onConflict conflict: SaveConflict
    ) throws -> (document: Document, isMerged: Bool) {
        if conflict.isBranch { return (try save(edited, onConflict: conflict), true) }
        var (mine, isMerged) = (edited, false)
        while true {
            do { return (try save(mine, onConflict: .fail), isMerged) } catch let error as DatabaseError
                where error.code == .conflict
            {
                guard var current = try currentInConflict(base.id), current.revision != mine.revision, try isKnown(base)
                else { throw error }
                if current.isDeleted {
                    if conflict.isMerge { return (try save(edited, onConflict: conflict), true) }
                    guard conflict.isLastWriteWins else { throw try self.conflict(base) }
                    current.json = edited.json
                    current.attachments = edited.attachments
                    return (try save(current, onConflict: .lastWriteWins), true)
                }
                do {
                    mine = try merged(
                        edited, base, current, model, identities,
                        isLastWriteWins: conflict.isLastWriteWins || conflict.isDeletesWin)
                } catch let clash as DatabaseError where clash.cause is AttributeClashes && conflict.isMerge {
                    return (try save(edited, onConflict: conflict), true)
                }
                isMerged = true
            } catch let error as DatabaseError where error.code == .notFound && conflict.isLastWriteWins {
                // The document was purged, so nothing is left to merge with.
                return (try save(mine, onConflict: .lastWriteWins), isMerged)
            }
        }
    }

    /// Applies an edit to the newer state. If merging single members produces a document that can't be decoded as
    /// the model, such as two cases of one enumeration, members that both changed are merged as a whole.
    private func merged<Model: Decodable>(
        _ edited: Document, _ base: Document, _ current: Document, _ model: Model.Type, _ identities: [String],
        isLastWriteWins: Bool
    ) throws -> Document {
        var merge = AttributeClashes.Merge(identities: identities, isLastWriteWins: isLastWriteWins, isWhole: false)
        let merged = try merge.merge(edited, of: base, into: current)
        if (try? merged.decode(model)) != nil { return merged }
        merge.isWhole = true
        let whole = try merge.merge(edited, of: base, into: current)
        _ = try whole.decode(model)
        return whole
    }

    /// Whether the revision that a document was read at exists in the stored document. It does not if it was
    /// written by a transaction that was rolled back, in another database, or before a purge.
    private func isKnown(_ document: Document) throws -> Bool {
        guard let revision = document.revision else { return false }
        return try tree(of: document.id)?.contains(revision) ?? false
    }

    /// The error for a plain model, which was never read.
    static func unread(_ error: DatabaseError) -> DatabaseError {
        DatabaseError(
            .conflict,
            error.message
                + "; a plain model can't be merged: change what was read, or save with onConflict: .lastWriteWins")
    }

    /// The error for a document that was changed since it was read.
    func conflict(_ document: Document) throws -> DatabaseError {
        guard let tree = try tree(of: document.id), let current = options.reads.current(in: tree) else {
            return DatabaseError(.notFound, "\"\(document.id)\" is no longer in the database; it was purged")
        }
        return Self.conflict(document, current)
    }
}
