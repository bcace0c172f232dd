public import RevisionTree

/// A revision that a target wants of its source.
public struct RevisionRequest: Sendable, Hashable {
    /// The document's id.
    public var id: DocumentID
    /// Which revision.
    public var revision: RevisionID
    /// Revisions that the target has, newest first: attachments that one of them has already may be left out.
    public var knownAncestors: [RevisionID]
    /// Whether the revision is the source's own winner and a tombstone (SEMANTICS K2).
    public var isDeletionAtSource: Bool

    /// Makes a request.
    public init(
        id: DocumentID, revision: RevisionID, knownAncestors: [RevisionID] = [], isDeletionAtSource: Bool = false
    ) {
        self.id = id
        self.revision = revision
        self.knownAncestors = knownAncestors
        self.isDeletionAtSource = isDeletionAtSource
    }
}

/// What a source answers to a ``RevisionRequest``.
public enum RevisionAnswer: Sendable {
    /// The revision.
    case found(PeerRevision)
    /// The source has it no more: it was compacted or purged, or is not to be read. The next change of the document, if
    /// there is one, brings what took its place.
    case missing(reason: String)
    /// The source can't give this one now, though it gives others.
    case failed(PeerError)
}
