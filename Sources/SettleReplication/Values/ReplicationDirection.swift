/// The direction of a replication, seen from the database of this process.
public enum ReplicationDirection: String, Sendable, Hashable {
    /// From this process to a peer.
    case push
    /// From a peer to this process; conflicts are settled here (SEMANTICS 3).
    case pull
}
