package import SettleCore

/// A revision that a target requests from its source.
package struct RevisionRequest: Sendable, Hashable {
    /// The document's id.
    package var id: DocumentID
    /// The revision.
    package var revision: RevisionID
    /// Revisions that the target has, newest first: attachments that one of them has may be omitted.
    package var knownAncestors: [RevisionID]
    /// Whether the revision is the source's own winner and a tombstone (SEMANTICS K2).
    package var isDeletionAtSource: Bool

    /// Creates a request.
    package init(
        id: DocumentID, revision: RevisionID, knownAncestors: [RevisionID] = [], isDeletionAtSource: Bool = false
    ) {
        self.id = id
        self.revision = revision
        self.knownAncestors = knownAncestors
        self.isDeletionAtSource = isDeletionAtSource
    }
}
