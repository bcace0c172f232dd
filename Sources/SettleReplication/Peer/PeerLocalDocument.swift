public import SettleCore

/// A local document of a peer, in which replications keep their checkpoints.
public struct PeerLocalDocument: Sendable, Hashable {
    /// Its revision, `0-N`.
    public var revision: String
    /// Its members without the reserved ones.
    public var body: JSON

    /// Creates a local document.
    public init(revision: String, body: JSON) {
        self.revision = revision
        self.body = body
    }
}
