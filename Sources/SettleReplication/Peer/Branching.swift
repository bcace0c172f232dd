/// Whether a replication may make branches at its target.
public enum Branching: Sendable, Hashable {
    /// As CouchDB does: concurrent edits become branches, and nothing is lost.
    case allowed
    /// Revisions of a document that were made without knowing the target's winner, or would leave several live leaves, are
    /// refused together with ``PeerError/Code/conflict``: for hubs where conflicts are settled before they are pushed.
    case refused
}
