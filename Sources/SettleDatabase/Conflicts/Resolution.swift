public import RevisionTree

/// What is to become of a conflict.
public enum Resolution: Sendable, Hashable {
    /// One of the leaves survives as it is; every other one is closed.
    ///
    /// Where it is the winner, or has the winner's content, nothing is written but the closing tombstones (SEMANTICS
    /// 74, K9). Another leaf's content is written as a child of the winner (70): closing the winner itself could, with
    /// another replica closing this leaf at the same moment, leave nothing alive. A disputed deletion that is kept closes
    /// the live leaves.
    case keep(RevisionID)
    /// A new content, written as a child of the winner (K8). Its attachments may be those of any leaf or new ones.
    case merged(DocumentBody, attachments: [Attachment])
    /// The content of a document, one of the conflict's changed or a new one: ``keep(_:)`` when it is one of the leaves
    /// unchanged, else ``merged(_:attachments:)`` (SEMANTICS 15, 26).
    ///
    /// Its id should be the conflict's: another one is reported as a warning, and the content is saved under the
    /// conflict's (21). One that was read from another database is refused (22).
    case document(Document)
    /// The document is deleted (SEMANTICS 16); where a disputed deletion is among the leaves, that one stays (17).
    case delete
    /// Nothing changes and the conflict stays, which is no error (SEMANTICS 75).
    case leaveConflicted

    /// Whether both decide the same.
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

    /// Hashes what is decided, without contents.
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
