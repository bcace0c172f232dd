public import RevisionTree

/// A revision that a peer has made, with the path that led to it.
public struct ReplicatedRevision: Sendable {
    /// The document's id.
    public var id: DocumentID
    /// The revision and its ancestors, newest first.
    public var history: RevisionHistory
    /// Whether the revision is a tombstone.
    public var isDeleted: Bool
    /// Whether the revision is the source's own winner and a tombstone, so that the document is deleted there: then it
    /// is a user's deletion, and no tombstone that closes a branch (SEMANTICS K2). A source's `_changes` row tells by its
    /// `deleted`.
    public var isDeletionAtSource = false
    /// The members.
    public var body: DocumentBody
    /// The attachments, in order; what their digests name must be in the database or pending.
    public var attachments: [Attachment]
    /// Whether a `revpos` of 0 stays, as CouchDB has it where a peer says none; else it is taken for
    /// not known, and becomes the revision's generation.
    package var keepsZeroRevpos = false

    /// Makes a replicated revision.
    public init(
        id: DocumentID, history: RevisionHistory, isDeleted: Bool = false, body: DocumentBody = .empty,
        attachments: [Attachment] = []
    ) {
        self.id = id
        self.history = history
        self.isDeleted = isDeleted
        self.body = body
        self.attachments = attachments
    }

    /// What became of a replicated revision.
    public enum Outcome: Sendable {
        /// It was stored.
        case stored
        /// It was known; nothing was written (SEMANTICS 200).
        case known
        /// It was refused, with the reason; the others of its batch are not affected (SEMANTICS 117).
        case refused(DatabaseError)
    }
}
