/// Whether a replication may create branches at its target.
public enum Branching: Sendable, Hashable {
    /// As in CouchDB: concurrent edits become branches, and nothing is lost.
    case allowed
    /// Revisions of a document that don't descend from the target's winner, or would leave several live leaves, are
    /// refused together with ``PeerError/Code/conflict``: for hubs where conflicts are settled before they are pushed.
    case refused
}
