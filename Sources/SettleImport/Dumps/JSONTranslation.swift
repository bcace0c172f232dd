internal import SettleCore
internal import SettleDatabase

/// How other products' JSON becomes documents here.
package struct JSONTranslation: Sendable, Equatable {
    /// The member that keeps an `_id` that is no text, as MongoDB has it; `nil` to have it as the document's id alone.
    package var keptID: String?
    /// The member with the name of a document's collection or class; `nil` for none, except that of Realm it is `type`.
    package var typeMember: String?
    /// Whether binary values of at least 1 KiB become attachments.
    package var attachesBinaries = false

    package init(keptID: String? = nil, typeMember: String? = nil, attachesBinaries: Bool = false) {
        (self.keptID, self.typeMember, self.attachesBinaries) = (keptID, typeMember, attachesBinaries)
    }
}

extension JSONObject {
    /// Adds a member of a translation.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if the document has one of this name.
    mutating func add(_ name: String, _ value: JSONValue) throws(DatabaseError) {
        guard self[name] == nil else {
            throw DatabaseError(.invalid, "it has a member \"\(name)\" already: choose another name")
        }
        self[name] = value
    }
}
