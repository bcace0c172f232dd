public import RevisionTree

/// A local document of a peer, in which replications keep their checkpoints.
public struct PeerLocalDocument: Sendable, Hashable {
    /// Its revision, `0-N`.
    public var revision: String
    /// Its members but the reserved ones.
    public var body: JSON

    /// Makes one.
    public init(revision: String, body: JSON) {
        self.revision = revision
        self.body = body
    }
}
