/// A source's answer to a ``RevisionRequest``.
package enum RevisionAnswer: Sendable {
    /// The revision.
    case found(PeerRevision)
    /// The source no longer has it, because it was compacted or purged, or does not allow reading it. A later change of
    /// the document replicates its successor.
    case missing(reason: String)
    /// The source can't return this revision now, though it returns others.
    case failed(PeerError)
}
