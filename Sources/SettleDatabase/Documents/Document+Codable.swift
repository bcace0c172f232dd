public import RevisionTree

extension Document {
    /// Makes a document that was never saved of a model.
    ///
    ///     struct Note: Codable { var title: String; var done = false }
    ///
    ///     var document = try Document(id: "n1", encoding: Note(title: "Milk"))
    ///     document = try database.save(document, onConflict: .fail)
    ///     var note = try document.decode(Note.self)
    ///     note.done = true
    ///     try document.setBody(encoding: note)
    ///
    /// Members stand in the order in which the model encodes them, its declaration order as a rule, because order
    /// enters the revision id (SEMANTICS 198).
    ///
    /// - Throws: `EncodingError` for what JSON can't hold, or ``DatabaseError`` with code `invalid` when the model is no
    ///   object or has a name that starts with an underscore (SEMANTICS 89).
    public init(id: DocumentID, encoding model: some Encodable) throws {
        self.init(id: id)
        try setBody(encoding: model)
    }

    /// Replaces all members by those of a model.
    ///
    /// - Throws: As ``init(id:encoding:)``; the document is as it was.
    public mutating func setBody(encoding model: some Encodable) throws {
        let value = try JSON(encoding: model)
        do { setBody(try DocumentBody(value)) } catch {
            throw DatabaseError(
                .invalid, "the model can't be the body of \"\(id)\": \(error.message)", cause: error)
        }
    }

    /// The members as a model.
    ///
    /// - Throws: `DecodingError` with the path of what does not fit.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self) throws -> Model {
        try json.decode(type)
    }
}
