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
