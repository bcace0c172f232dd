internal import Settle

/// A document of an input, ready to be stored.
enum IncomingDocument: Sendable {
    /// A document without history: it becomes an edit here.
    case edit(Document)
    /// A revision with its history: it is stored as it is.
    case revision(ReplicatedRevision)
    /// A document that stays in one database.
    case local(DocumentID, DocumentBody)

    /// The document's id.
    var id: DocumentID {
        switch self {
        case .edit(let document): document.id
        case .revision(let revision): revision.id
        case .local(let id, _): id
        }
    }
}
