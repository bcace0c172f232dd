public import SettleCore

extension Database {
    /// Saves a model as a document, and makes an id if it has none.
    ///
    ///     struct Note: Codable, Identifiable { var id: String?; var title: String }
    ///
    ///     let saved = try database.save(Note(title: "Milk"))
    ///     print(saved.id, saved.revision)
    ///
    /// A new document gets the model's fields. In a stored one they replace the fields that the model knows; other fields, which a
    /// peer or a later version of the app has written, and attachments stay. A model without a revision is saved on the
    /// current one. One with a revision, under the coding key `_rev`, is an edit of that, and `conflict` decides what happens if
    /// another edit came first.
    ///
    /// - Parameters:
    ///   - model: The model; its `id` is the document's.
    ///   - conflict: What to do if the model has a revision and the document was changed since. By default nothing is written and the
    ///     call throws, so no edit is lost.
    /// - Returns: The document as stored.
    /// - Throws: ``InvalidIdentifier`` for an id or a revision that can't be one; `EncodingError`; ``DatabaseError`` as for
    ///   a document.
    @discardableResult
    public func save<Model: Codable & Identifiable>(
        _ model: Model, onConflict conflict: SaveConflict = .fail
    ) throws -> Document where Model.ID: DocumentIDConvertible {
        let content = try ModelContent(model)
        let id = try model.id.documentID ?? content.id ?? .unique()
        guard let revision = try content.revision else {
            return try updateOrCreate(id) { try $0.setFields(content, of: Model.self) }
        }
        var document = try document(id, revision: revision) ?? Document(id: id)
        document.revision = revision
        document.isDeleted = false
        try document.setFields(content, of: Model.self)
        return try save(document, onConflict: conflict)
    }

    /// Reads a document as a model; `nil` for a missing or deleted document.
    ///
    /// - Throws: `DecodingError` with the path of the mismatch; ``DatabaseError`` when the database can't be read.
    public func document<Model: Decodable>(_ id: DocumentID, as type: Model.Type) throws -> Model? {
        try document(id)?.decode(type)
    }

    /// Reads a document as a model, changes that with a closure, and saves it; again with the new state if another writer saved
    /// it in between, so no edit is overwritten (SEMANTICS 146). Fields that the model does not know stay.
    ///
    ///     try database.update("milk", as: Item.self) { $0.count += 1 }
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - type: The model's type.
    ///   - change: Changes the model. It may be called several times.
    /// - Returns: The document as stored.
    /// - Throws: ``DatabaseError`` with code `notFound` if there is no such document; `DecodingError`; errors of the closure; and as
    ///   a save. Nothing is written then.
    @discardableResult
    public func update<Model: Codable>(
        _ id: DocumentID, as type: Model.Type, _ change: (inout Model) throws -> Void
    ) throws -> Document {
        try update(id) { document in
            guard document.revision != nil else {
                throw DatabaseError(.notFound, "there is no \"\(id)\" to update; save a new one")
            }
            var model = try document.decode(type)
            try change(&model)
            try document.setFields(ModelContent(model), of: type)
        }
    }
}
