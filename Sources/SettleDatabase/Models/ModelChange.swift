internal import SettleCore

/// The changes of an app to a model: its JSON before and after, applied as a change to the stored JSON.
///
/// A model has only some members of a document and its own spelling of them. So the stored JSON is never replaced
/// by the model's. Both encodings are compared, and only their differences are applied to the stored JSON:
///
///     stored   {"name":"Ada","at":"2026-01-01T00:00:00Z",    "place":{"city":"Brno","zip":"60200"}}
///     before   {"name":"Ada","at":"2026-01-01T00:00:00.000Z","place":{"city":"Brno"}}
///     after    {"name":"Ada","at":"2026-01-01T00:00:00.000Z","place":{"city":"Prague"}}
///     ───────────────────────────────────────────────────────────────────────────────
///     result   {"name":"Ada","at":"2026-01-01T00:00:00Z",    "place":{"city":"Prague","zip":"60200"}}
///
/// | before and after | the stored value |
/// |---|---|
/// | mean the same, or after means the same as the stored value | keeps its bytes |
/// | objects, and an object is stored | member by member: set, changed or removed; all other members stay |
/// | lists, and the stored list corresponds to the one before | element by element: see ``ListAlignment`` |
/// | anything else | is replaced by the value after |
struct ModelChange {
    /// The members that the model encoded before the change.
    let before: JSONObject
    /// The members that it encodes now.
    let after: JSONObject
    /// The names of members that identify elements of lists.
    let identities: [String]
    /// Whether the model contains the revision it was read at.
    let hasRevision: Bool

    /// Computes the difference between two encodings of one model.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if the model was given the id of another document. A model
    ///   that had another id from the start, for example from `let id = UUID()`, was not changed.
    init(from before: ModelContent, to after: ModelContent, of model: Any.Type, _ id: DocumentID) throws {
        if let stated = try after.id, try stated != before.id { try after.check(isOf: id) }
        (self.before, self.after, hasRevision) = (before.members, after.members, after.hasRevision)
        identities = (model as? any DocumentModel.Type)?.elementIdentities ?? standardElementIdentities
    }

    /// Whether the model means the same as before.
    var isEmpty: Bool { before.hasSameMeaning(as: after) }

    /// The way in which changed lists are written.
    enum Lists {
        /// Element by element, so that members that the model does not have stay.
        case byElement
        /// As a whole.
        case whole
    }

    /// Applies the change to the members of a document.
    ///
    /// - Parameters:
    ///   - stored: The members that the model was decoded from.
    ///   - lists: The way in which lists are written.
    /// - Returns: The members, and whether a list among them was written element by element.
    /// - Complexity: O(*n* · *d*) for *n* bytes and *d* levels, and for lists as ``ListAlignment``.
    func applied(to stored: JSONObject, _ lists: Lists = .byElement) -> (members: JSONObject, hasMatched: Bool) {
        var pass = Pass(lists: lists, identities: identities)
        return (pass.object(before, after, stored), pass.hasMatched)
    }

    /// One application of the change.
    private struct Pass {
        let lists: Lists
        let identities: [String]
        var hasMatched = false

        mutating func value(_ before: JSONValue, _ after: JSONValue, _ stored: JSONValue) -> JSONValue {
            if before.hasSameMeaning(as: after) || after.hasSameMeaning(as: stored) { return stored }
            switch (before, after, stored) {
            case (.object(let before), .object(let after), .object(let stored)):
                return .object(object(before, after, stored))
            case (.array(let before), .array(let after), .array(let stored)):
                return .array(list(before, after, stored))
            default: return after
            }
        }

        mutating func object(_ before: JSONObject, _ after: JSONObject, _ stored: JSONObject) -> JSONObject {
            var result = stored
            for member in after {
                let old = before[member.name]
                guard let kept = stored[member.name] else {
                    // A default value of the model that the document does not have is stored only after it was
                    // changed.
                    if old.map({ !$0.hasSameMeaning(as: member.value) }) ?? true { result[member.name] = member.value }
                    continue
                }
                result[member.name] =
                    if let old { value(old, member.value, kept) } else {
                        member.value.hasSameMeaning(as: kept) ? kept : member.value
                    }
            }
            for member in before where after[member.name] == nil { result[member.name] = nil }
            return result
        }

        mutating func list(_ before: [JSONValue], _ after: [JSONValue], _ stored: [JSONValue]) -> [JSONValue] {
            guard lists == .byElement,
                let alignment = ListAlignment(before: before, after: after, stored: stored, identities: identities)
            else { return after }
            hasMatched = true
            var (result, unread): ([JSONValue], Set<Int>) = ([], alignment.unread)
            // Elements that the model left out stay behind their predecessor; if it was removed, they move to the
            // end.
            func keepUnread(from place: Int) {
                var place = place
                while unread.remove(place) != nil {
                    result.append(stored[place])
                    place += 1
                }
            }
            keepUnread(from: 0)
            for (element, pair) in zip(after, alignment.pairs) {
                result.append(pair.map { value(before[$0.before], element, stored[$0.stored]) } ?? element)
                if let pair { keepUnread(from: pair.stored + 1) }
            }
            return result + unread.sorted().map { stored[$0] }
        }
    }
}

// MARK: - ModelContent

/// A model encoded as a document: its members, and the id and the revision that it contains.
struct ModelContent {
    /// The members of the body.
    let members: JSONObject
    /// The id that the model contains.
    private let statedID: Result<DocumentID?, any Error>
    /// The revision that the model contains.
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

    /// A content without members.
    static var empty: ModelContent { ModelContent() }

    private init() { (members, statedID, statedRevision) = (JSONObject(), .success(nil), nil) }

    /// Whether the model contains a revision.
    var hasRevision: Bool { statedRevision != nil }

    private static func documentID(of model: some Identifiable) throws -> DocumentID? {
        try (model.id as? any DocumentIDConvertible)?.documentID
    }

    /// The id that the model contains; `nil` for none.
    ///
    /// - Throws: ``InvalidIdentifier`` for text that is not a valid id of a document.
    var id: DocumentID? { get throws { try statedID.get() } }

    /// The revision that the model contains.
    ///
    /// - Throws: ``InvalidIdentifier`` for text that is not a revision.
    var revision: RevisionID? { get throws { try statedRevision?.string.map(RevisionID.init(validating:)) } }

    /// Checks that a model does not contain the id of another document.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    func check(isOf id: DocumentID) throws {
        guard let stated = try self.id, stated != id else { return }
        throw DatabaseError(.invalid, "the model says that its id is \"\(stated)\", but it is saved as \"\(id)\"")
    }
}
