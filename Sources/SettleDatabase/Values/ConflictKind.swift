/// The kinds of conflict.
public enum ConflictKind: Hashable, Sendable, CaseIterable {
    /// Two or more live leaves: what CouchDB and Cloudant Sync call a conflict (SEMANTICS 61, 66).
    case branches
    /// One live leaf and a concurrent deletion by a user (SEMANTICS 7, K2). Reads return the live leaf (63); only
    /// policies by which a deletion may win have anything to decide.
    case deletion
}
