public import SettleCore

extension Document {
    /// Creates a new document from a model.
    ///
    ///     struct Note: Codable { var title: String; var done = false }
    ///
    ///     var document = try Document(encoding: Note(title: "Milk"))
    ///     document = try database.save(document)
    ///     try document.update(as: Note.self) { $0.done = true }
    ///
    /// Members are in the order in which the model encodes them, usually its declaration order, because their order
    /// is part of the revision id (SEMANTICS 198). Dates, bytes and URLs are stored in the forms of
    /// ``DocumentCoding``. A ``DocumentModel`` may choose its own coding, and a field with the name of its type.
    /// The `id` of an `Identifiable` model is the document's id, and not a member; a model may also have id and
    /// revision under the coding keys `_id` and `_rev`.
    ///
    /// - Parameters:
    ///   - id: The id; by default the model's, or `DocumentID.unique()` if it has none.
    ///   - model: The model.
    /// - Throws: `EncodingError` for values that JSON can't represent, or ``DatabaseError`` with code `invalid` if the
    ///   model is not an object, has another id, or a name that starts with an underscore (SEMANTICS 89).
    public init(id: DocumentID? = nil, encoding model: some Encodable) throws {
        let content = try ModelContent(model)
        try self.init(id: id ?? content.id ?? .unique(), content)
    }

    /// Creates a new document from an encoded model.
    init(id: DocumentID, _ content: ModelContent) throws {
        self.init(id: id)
        try setBody(content)
    }

    /// Replaces all members with those of a model, including members that the model does not have.
    ///
    /// - Throws: As ``init(id:encoding:)``; the document is then unchanged.
    public mutating func setBody(encoding model: some Encodable) throws { try setBody(ModelContent(model)) }

    private mutating func setBody(_ content: ModelContent) throws {
        try content.check(isOf: id)
        try setMembers(content.members)
    }

    private mutating func setMembers(_ members: JSONObject) throws {
        do { setBody(try DocumentBody(.object(members))) } catch {
            throw DatabaseError(
                .invalid, "the model can't be the body of \"\(id)\": \(error.message)", cause: error)
        }
    }

    /// Decodes the members as a model. Its `id` is the document's, and it may have id and revision under the coding
    /// keys `_id` and `_rev`.
    ///
    /// - Throws: `DecodingError` with the path of the mismatch, and the document and the model in its description.
    public func decode<Model: Decodable>(_ type: Model.Type = Model.self) throws -> Model {
        do { return try json.decode(type, of: DocumentIdentity(id: id, revision: revision)) } catch let error
            as DecodingError
        { throw error.about("\"\(id)\" as \(type)") }
    }

    /// Changes the members as a model: only the members that the closure changes are changed (see ``Saved``).
    ///
    ///     try document.update(as: Note.self) { $0.done = true }
    ///
    /// - Throws: `DecodingError`; errors of the closure and of ``init(id:encoding:)``. The document is then
    ///   unchanged.
    public mutating func update<Model: Codable>(
        as type: Model.Type = Model.self, _ change: (inout Model) throws -> Void
    ) throws {
        _ = try edit(as: type, change)
    }

    /// Changes the members as a model.
    ///
    /// - Returns: The changed model, and the change.
    mutating func edit<Model: Codable>(
        as type: Model.Type, _ change: (inout Model) throws -> Void
    ) throws -> (model: Model, change: ModelChange) {
        var model = try decode(type)
        let before = try ModelContent(model)
        try change(&model)
        let made = try ModelChange(from: before, to: ModelContent(model), of: type, id)
        try apply(made, of: type)
        return (model, made)
    }

    /// Applies a change of a model to the members.
    ///
    /// Elements of lists are matched by the members they have in common, which can't be right for every model. So
    /// the result must decode as the changed model; otherwise changed lists are replaced as a whole.
    mutating func apply<Model: Codable>(_ change: ModelChange, of type: Model.Type) throws {
        guard !change.isEmpty else { return }
        let stored = json.object ?? JSONObject()
        let (members, hasMatched) = change.applied(to: stored)
        if hasMatched {
            var changed = self
            try changed.setMembers(members)
            let isRead = (try? ModelContent(changed.decode(type)))?.members.hasSameMeaning(as: change.after) ?? false
            self = changed
            if isRead { return }
            return try setMembers(change.applied(to: stored, .whole).members)
        }
        try setMembers(members)
    }
}

extension DecodingError {
    /// Returns the error with a subject at the start of its description.
    fileprivate func about(_ subject: String) -> DecodingError {
        func named(_ context: Context) -> Context {
            Context(
                codingPath: context.codingPath, debugDescription: "\(subject): \(context.debugDescription)",
                underlyingError: context.underlyingError)
        }
        return switch self {
        case .typeMismatch(let type, let context): .typeMismatch(type, named(context))
        case .valueNotFound(let type, let context): .valueNotFound(type, named(context))
        case .keyNotFound(let key, let context): .keyNotFound(key, named(context))
        case .dataCorrupted(let context): .dataCorrupted(named(context))
        @unknown default: self
        }
    }
}
