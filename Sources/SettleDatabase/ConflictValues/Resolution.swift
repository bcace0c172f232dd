public import SettleCore

/// How a conflict is resolved.
public enum Resolution: Sendable, Hashable {
    /// One of the leaves survives unchanged; all others are closed.
    ///
    /// If it is the winner, or has the winner's content, only the closing tombstones are written (SEMANTICS 74, K9).
    /// Another leaf's content is written as a child of the winner (70): closing the winner itself could leave nothing
    /// alive, if another replica concurrently closes this leaf. Keeping a disputed deletion closes the live leaves.
    case keep(RevisionID)
    /// New content, written as a child of the winner (K8). Its attachments may be those of any leaf or new ones.
    case merged(DocumentBody, attachments: [DocumentAttachment])
    /// The content of a document, which is a leaf, a changed leaf or new: ``keep(_:)`` if it is an unchanged leaf, else
    /// ``merged(_:attachments:)`` (SEMANTICS 15, 26).
    ///
    /// Its id should be the conflict's: another id is reported as a warning, and the content is saved under the
    /// conflict's (21). A document that was read from another database is refused (22).
    case document(Document)
    /// The document is deleted (SEMANTICS 16); a disputed deletion among the leaves stays (17).
    case delete
    /// Nothing changes and the conflict stays, which is not an error (SEMANTICS 75).
    case leaveConflicted

    /// Whether both resolve alike.
    public static func == (left: Resolution, right: Resolution) -> Bool {
        switch (left, right) {
        case (.keep(let left), .keep(let right)): left == right
        case (.merged(let left, let leftAttachments), .merged(let right, let rightAttachments)):
            left == right && leftAttachments == rightAttachments
        case (.document(let left), .document(let right)):
            left.id == right.id && left.revision == right.revision && left.isDeleted == right.isDeleted
                && (try? left.body()) == (try? right.body()) && left.attachments == right.attachments
        case (.delete, .delete), (.leaveConflicted, .leaveConflicted): true
        default: false
        }
    }

    /// Hashes the kind of resolution, without contents.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .keep(let revision): hasher.combine(revision)
        case .merged(let body, _): hasher.combine(body)
        case .document(let document): hasher.combine(document.id)
        case .delete: hasher.combine(1)
        case .leaveConflicted: hasher.combine(2)
        }
    }
}
