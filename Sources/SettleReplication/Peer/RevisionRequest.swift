public import SettleCore

/// A revision that a target requests from its source.
public struct RevisionRequest: Sendable, Hashable {
    /// The document's id.
    public var id: DocumentID
    /// The revision.
    public var revision: RevisionID
    /// Revisions that the target has, newest first: attachments that one of them has may be omitted.
    public var knownAncestors: [RevisionID]
    /// Whether the revision is the source's own winner and a tombstone (SEMANTICS K2).
    public var isDeletionAtSource: Bool

    /// Creates a request.
    public init(
        id: DocumentID, revision: RevisionID, knownAncestors: [RevisionID] = [], isDeletionAtSource: Bool = false
    ) {
        self.id = id
        self.revision = revision
        self.knownAncestors = knownAncestors
        self.isDeletionAtSource = isDeletionAtSource
    }
}
