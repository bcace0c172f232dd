internal import SettleCore

/// What a model encodes as a document: its members, and the id and the revision that it says it has.
struct ModelContent {
    /// The members of the body.
    let members: JSONObject
    /// The id it says it has.
    private let statedID: Result<DocumentID?, any Error>
    /// The revision it says it was read at.
    private let statedRevision: JSONValue?

    /// Encodes a model.
    ///
    /// - Throws: `EncodingError`; ``DatabaseError`` with code `invalid` for a model that is not an object.
    init(_ model: some Encodable) throws {
        let encoded = try JSONValue(encodingDocument: model)
        guard case .object(var members) = DocumentType.of(type(of: model))?.added(to: encoded) ?? encoded else {
            throw DatabaseError(
                .invalid, "a model has to be encoded as an object, but \(type(of: model)) is \(encoded.kind)")
        }
        let id = members["_id"]
        statedRevision = members["_rev"]
        members["_id"] = nil
        members["_rev"] = nil
        self.members = members
        statedID = Result {
            if CodingRules.isIDOfDocument(in: type(of: model)), let identifiable = model as? any Identifiable {
                return try Self.documentID(of: identifiable)
            }
            return try id?.string.map(DocumentID.init(validating:))
        }
    }

    /// No members.
    static var empty: ModelContent { ModelContent() }

    private init() { (members, statedID, statedRevision) = (JSONObject(), .success(nil), nil) }

    /// Whether it has a revision.
    var hasRevision: Bool { statedRevision != nil }

    private static func documentID(of model: some Identifiable) throws -> DocumentID? {
        try (model.id as? any DocumentIDConvertible)?.documentID
    }

    /// The id it says it has; `nil` for none.
    ///
    /// - Throws: ``InvalidIdentifier`` for an id that no document can have.
    var id: DocumentID? { get throws { try statedID.get() } }

    /// The revision it says it was read at.
    ///
    /// - Throws: ``InvalidIdentifier`` for text that is not a revision.
    var revision: RevisionID? { get throws { try statedRevision?.string.map(RevisionID.init(validating:)) } }

    /// Checks that a model does not say it is another document.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    func check(isOf id: DocumentID) throws {
        guard let stated = try self.id, stated != id else { return }
        throw DatabaseError(.invalid, "the model says that its id is \"\(stated)\", but it is saved as \"\(id)\"")
    }
}
