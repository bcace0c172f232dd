public import SettleCore

extension Document {
    /// Creates a new document from a model.
    ///
    ///     struct Note: Codable { var title: String; var done = false }
    ///
    ///     var document = try Document(encoding: Note(title: "Milk"))
    ///     document = try database.save(document)
    ///     var note = try document.decode(Note.self)
    ///     note.done = true
    ///     try document.setBody(encoding: note)
    ///
    /// Members are in the order in which the model encodes them, usually its declaration order, because their order is
    /// part of the revision id (SEMANTICS 198). Dates, bytes and URLs are stored as ``DocumentCoding`` says; a
    /// ``DocumentModel`` may have a coding of its own, and a field that names its type. A model may have the document's id
    /// and revision under the coding keys `_id` and `_rev`; these are no fields of the document.
    ///
    /// - Parameters:
    ///   - id: The id; `DocumentID.unique()` unless given.
    ///   - model: The model.
    /// - Throws: `EncodingError` for values that JSON can't represent, or ``DatabaseError`` with code `invalid` if the
    ///   model is not an object, has another `_id`, or a name that starts with an underscore (SEMANTICS 89).
    public init(id: DocumentID = .unique(), encoding model: some Encodable) throws {
        self.init(id: id)
        try setBody(encoding: model)
    }

    /// Replaces all members with those of a model.
    ///
    /// - Throws: As ``init(id:encoding:)``; the document is unchanged then.
    public mutating func setBody(encoding model: some Encodable) throws {
        try setBody(ModelContent(model).members)
    }

    /// Replaces the fields that a model has by those of an instance. Fields that it does not know stay, after its own.
    ///
    /// - Throws: As ``init(id:encoding:)``; the document is unchanged then.
    mutating func setFields<Model: Codable>(_ content: ModelContent, of model: Model.Type) throws {
        var members = content.members
        let known = try? ModelContent(decode(model)).members
        for member in json.object ?? JSONObject() where members[member.name] == nil && known?[member.name] == nil {
            members[member.name] = member.value
        }
        try setBody(members)
    }

    private mutating func setBody(_ members: JSONObject) throws {
        var members = members
        if let stated = members["_id"], !stated.isNull, stated.string != id.string {
            throw DatabaseError(.invalid, "the model says that its id is \(stated), but it is saved as \"\(id)\"")
        }
        members["_id"] = nil
        members["_rev"] = nil
        do { setBody(try DocumentBody(.object(members))) } catch {
            throw DatabaseError(
                .invalid, "the model can't be the body of \"\(id)\": \(error.message)", cause: error)
        }
    }

    /// The members as a model, which may have the id and the revision under the coding keys `_id` and `_rev`.
    ///
    /// - Throws: `DecodingError` with the path of the mismatch.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self) throws -> Model {
        try json.decode(type, of: DocumentIdentity(id: id, revision: revision))
    }
}
