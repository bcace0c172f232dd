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
        let change = try ModelChange(from: before ?? .empty, to: content, of: Model.self, id)
        try mine.apply(change, of: Model.self)
        let stored = try saveEdit(mine, of: base, as: Model.self, change.identities, onConflict: conflict)
        return Saved.read(stored.document, else: model)
    }

    /// Sets the members that a model knows, in the document that is stored now.
    func overwrite<Model: Codable>(_ model: Model, _ content: ModelContent, _ id: DocumentID) throws -> Saved<Model> {
        let stored = try updateOrCreate(id) { document in
            let before = try (try? document.decode(Model.self)).map { try ModelContent($0) }
            try document.apply(ModelChange(from: before ?? .empty, to: content, of: Model.self, id), of: Model.self)
        }
        return Saved.read(stored, else: model)
    }

    /// The model as it is stored now, for one that was not changed.
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

    /// Saves an edit of a document; if that was changed since it was read, merged with the newer state.
    ///
    /// - Parameters:
    ///   - edited: The document with the edit.
    ///   - base: The document as it was read.
    ///   - model: What the result has to read as.
    ///   - identities: The names of members that identify elements of lists.
    ///   - conflict: What to do if both changed the same member.
    /// - Returns: What was stored, and whether it has changes of others.
    /// - Throws: ``DatabaseError`` with code `conflict`; `DecodingError` if the newer state is no such model; and as a save. Nothing is
    ///   written then.
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
                guard var current = try current(base.id), current.revision != mine.revision, try isKnown(base) else {
                    throw error
                }
                if current.isDeleted {
                    guard conflict.isLastWriteWins else { throw try self.conflict(base) }
                    current.json = edited.json
                    current.attachments = edited.attachments
                    return (try save(current, onConflict: .lastWriteWins), true)
                }
                do {
                    mine = try merged(
                        edited, base, current, model, identities,
                        isLastWriteWins: conflict.isLastWriteWins || conflict.isDeletesWin)
                } catch let clash as DatabaseError where clash.cause is MemberClashes && conflict.isMerge {
                    return (try save(edited, onConflict: conflict), true)
                }
                isMerged = true
            }
        }
    }

    /// An edit in the newer state. Where merged members don't read as the model any more, such as two cases of one enumeration, those
    /// that both changed are taken as a whole.
    private func merged<Model: Decodable>(
        _ edited: Document, _ base: Document, _ current: Document, _ model: Model.Type, _ identities: [String],
        isLastWriteWins: Bool
    ) throws -> Document {
        var merge = MemberClashes.Merge(identities: identities, isLastWriteWins: isLastWriteWins, isWhole: false)
        let merged = try merge.merge(edited, of: base, into: current)
        if (try? merged.decode(model)) != nil { return merged }
        merge.isWhole = true
        let whole = try merge.merge(edited, of: base, into: current)
        _ = try whole.decode(model)
        return whole
    }

    /// Whether the revision that a document was read at is one of the document that is stored: not one of a transaction that was rolled
    /// back, of another database or of before a purge.
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

    /// The error for a document that was not read as it is stored now.
    func conflict(_ document: Document) throws -> DatabaseError {
        guard let tree = try tree(of: document.id), let current = options.reads.current(in: tree) else {
            return DatabaseError(.notFound, "\"\(document.id)\" is not in the database any more; it was purged")
        }
        return Self.conflict(document, current)
    }
}
