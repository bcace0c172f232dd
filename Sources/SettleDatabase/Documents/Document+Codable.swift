public import SettleCore

extension Document {
    /// Creates a new document from a model.
    ///
    ///     struct Note: Codable { var title: String; var done = false }
    ///
    ///     var document = try Document(id: "n1", encoding: Note(title: "Milk"))
    ///     document = try database.save(document, onConflict: .fail)
    ///     var note = try document.decode(Note.self)
    ///     note.done = true
    ///     try document.setBody(encoding: note)
    ///
    /// Members are in the order in which the model encodes them, usually its declaration order, because their order is
    /// part of the revision id (SEMANTICS 198).
    ///
    /// - Throws: `EncodingError` for values that JSON can't represent, or ``DatabaseError`` with code `invalid` if the
    ///   model is not an object or has a name that starts with an underscore (SEMANTICS 89).
    public init(id: DocumentID, encoding model: some Encodable) throws {
        self.init(id: id)
        try setBody(encoding: model)
    }

    /// Replaces all members with those of a model.
    ///
    /// - Throws: As ``init(id:encoding:)``; the document is unchanged then.
    public mutating func setBody(encoding model: some Encodable) throws {
        let value = try JSON(encoding: model)
        do { setBody(try DocumentBody(value)) } catch {
            throw DatabaseError(
                .invalid, "the model can't be the body of \"\(id)\": \(error.message)", cause: error)
        }
    }

    /// The members as a model.
    ///
    /// - Throws: `DecodingError` with the path of the mismatch.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self) throws -> Model {
        try json.decode(type)
    }
}
