package import RevisionTree
package import SettleDatabase

/// A document that a query found.
package enum FoundDocument: Sendable {
    /// All of it, as it is stored.
    case whole(DocumentRecord)
    /// The members that were asked for.
    case part(JSON, id: DocumentID)
}
