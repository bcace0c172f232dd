package import SettleCore
package import SettleDatabase

/// A document that a query found.
package enum FoundDocument: Sendable {
    /// The whole document, as stored.
    case whole(DocumentRecord)
    /// The requested members.
    case part(JSONValue, id: DocumentID)

    /// The document's id.
    package var id: DocumentID {
        switch self {
        case .whole(let record): record.id
        case .part(_, let id): id
        }
    }

    /// The revision that was found; `nil` if only some members are there.
    var revision: RevisionID? {
        if case .whole(let record) = self { record.tree.winner?.revision } else { nil }
    }
}
