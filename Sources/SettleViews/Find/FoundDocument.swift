package import SettleCore
package import SettleDatabase

/// A document that a query found.
package enum FoundDocument: Sendable {
    /// The whole document, as stored.
    case whole(DocumentRecord)
    /// The requested members.
    case part(JSON, id: DocumentID)
}
