internal import SettleCore

/// What a model encodes.
struct ModelContent {
    /// Its members, `_id` and `_rev` included.
    let members: JSONObject

    init(_ model: some Encodable) throws {
        let encoded = try JSONValue(encoding: model)
        guard case .object(let members) = DocumentType.of(type(of: model))?.added(to: encoded) ?? encoded else {
            throw DatabaseError(
                .invalid, "a model has to be encoded as an object, but \(type(of: model)) is \(encoded.kind)")
        }
        self.members = members
    }

    /// The id it says it has.
    var id: DocumentID? { get throws { try members["_id"]?.string.map(DocumentID.init(validating:)) } }

    /// The revision it says it was read at.
    var revision: RevisionID? { get throws { try members["_rev"]?.string.map(RevisionID.init(validating:)) } }
}
