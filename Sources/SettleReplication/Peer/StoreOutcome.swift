/// What became of a revision at its target.
public enum StoreOutcome: Sendable {
    /// It is stored. A peer that does not tell says this for a known one too.
    case stored
    /// It was known.
    case known
    /// The target will not have it; the reason says why and what to do. Trying again as it is does not help
    /// (SEMANTICS 205).
    case refused(PeerError)
    /// It could not be stored now, though others could; trying again may help.
    case failed(PeerError)
}

/// Whether a replication may make branches at its target.
public enum Branching: Sendable, Hashable {
    /// As CouchDB does: concurrent edits become branches, and nothing is lost.
    case allowed
    /// Revisions of a document that were made without knowing the target's winner, or would leave several live leaves, are
    /// refused together with ``PeerError/Code/conflict``: for hubs where conflicts are settled before they are pushed.
    case refused
}
