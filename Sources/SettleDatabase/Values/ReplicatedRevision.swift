public import SettleCore

/// A revision from a peer, with its history.
public struct ReplicatedRevision: Sendable {
    /// The document's id.
    public var id: DocumentID
    /// The revision and its ancestors, newest first.
    public var history: RevisionHistory
    /// Whether the revision is a tombstone.
    public var isDeleted: Bool
    /// Whether the revision is a tombstone and the source's own winner, so that the document is deleted there: then it
    /// is a user's deletion, and not a tombstone that closes a branch (SEMANTICS K2). The row of the source's
    /// `_changes` has `deleted` then.
    public var isDeletionAtSource = false
    /// The members.
    public var body: DocumentBody
    /// The attachments, in order; the contents of their digests must be in the database or pending.
    public var attachments: [DocumentAttachment]
    /// Whether a `revpos` of 0 is kept, as CouchDB does for a peer that sends none; otherwise it counts as unknown, and
    /// is set to the revision's generation.
    package var keepsZeroRevpos = false
    /// Leaves that are forgotten when the revision is stored: former states of a peer that sends its current state alone.
    package var replaced: [RevisionID] = []
    /// The states of such a peer, if edits here were made on another one than this revision.
    package var formerState: FormerState?

    /// Creates a replicated revision.
    public init(
        id: DocumentID, history: RevisionHistory, isDeleted: Bool = false, body: DocumentBody = .empty,
        attachments: [DocumentAttachment] = []
    ) {
        self.id = id
        self.history = history
        self.isDeleted = isDeleted
        self.body = body
        self.attachments = attachments
    }

    /// The outcome for a replicated revision.
    public enum Outcome: Sendable {
        /// It was stored.
        case stored
        /// It was known; nothing was written (SEMANTICS 200).
        case known
        /// It was refused, with the reason; the others of its batch are not affected (SEMANTICS 117).
        case refused(DatabaseError)
    }
}
