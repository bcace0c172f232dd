internal import SettleCore

/// What an app changed in a model: its JSON before and after, as a change of the JSON that is stored.
///
/// A model knows some members of a document and spells them in its own way. So the stored JSON is never replaced by the model's. Both
/// encodings are compared, and only their differences are made to the stored JSON:
///
///     stored   {"name":"Ada","at":"2026-01-01T00:00:00Z",    "place":{"city":"Brno","zip":"60200"}}
///     before   {"name":"Ada","at":"2026-01-01T00:00:00.000Z","place":{"city":"Brno"}}
///     after    {"name":"Ada","at":"2026-01-01T00:00:00.000Z","place":{"city":"Prague"}}
///     ───────────────────────────────────────────────────────────────────────────────
///     result   {"name":"Ada","at":"2026-01-01T00:00:00Z",    "place":{"city":"Prague","zip":"60200"}}
///
/// | before and after | the stored value |
/// |---|---|
/// | say the same, or after says what is stored | keeps its bytes |
/// | objects, and an object is stored | member by member: set, changed or removed; the others stay |
/// | lists, and a list is stored that fits the one before | element by element: see ``ListAlignment`` |
/// | anything else | is replaced by the value after |
struct ModelChange {
    /// The members that the model encoded before the change.
    let before: JSONObject
    /// The members that it encodes now.
    let after: JSONObject
    /// The names of members that identify elements of lists.
    let identities: [String]
    /// Whether the model carries the revision it was read at.
    let hasRevision: Bool

    /// Makes the difference of two encodings of one model.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if the model was given the id of another document. One that states another
    ///   id from the start, as `let id = UUID()` does, is no change.
    init(from before: ModelContent, to after: ModelContent, of model: Any.Type, _ id: DocumentID) throws {
        if let stated = try after.id, try stated != before.id { try after.check(isOf: id) }
        (self.before, self.after, hasRevision) = (before.members, after.members, after.hasRevision)
        identities = (model as? any DocumentModel.Type)?.elementIdentities ?? standardElementIdentities
    }

    /// Whether the model says the same as before.
    var isEmpty: Bool { before.hasSameMeaning(as: after) }

    /// How lists that were changed are written.
    enum Lists {
        /// Element by element, so that members that the model does not know stay.
        case byElement
        /// As a whole.
        case whole
    }

    /// Makes the change to the members of a document.
    ///
    /// - Parameters:
    ///   - stored: The members that the model was decoded from.
    ///   - lists: How lists are written.
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
                    // A default value that the document does not have is not stored before it is changed.
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
            // What the model left out stays after the element that it followed; without that one, at the end.
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
