public import SettleDatabase

/// The configuration of a replication.
///
///     var configuration = ReplicationConfiguration.pull(notes, from: hub)
///     configuration.isContinuous = true
///     configuration.conflictPolicy = .threeWayMerge()
///
/// A running replication uses the configuration from its start: a change takes effect with the next start
/// (SEMANTICS 45).
public struct ReplicationConfiguration: Sendable {
    /// The source.
    public var source: any Peer
    /// The target.
    public var target: any Peer
    /// The direction, seen from this process. It determines which side settles conflicts, and how a refused document
    /// affects the checkpoint.
    public var direction: ReplicationDirection
    /// The documents to replicate; all by default.
    public var filter = ReplicationFilter.all
    /// Whether it is continuous: when everything is done it becomes idle, and active again when something changes
    /// (SEMANTICS 93). `false` by default (95).
    public var isContinuous = false
    /// The policy that settles conflicts from a pull into a database of this process; ``ConflictPolicy/keepAll`` by
    /// default (K4). It is not used in a push.
    ///
    /// Pulled revisions and the settlement of their conflicts are written in one transaction, so nobody reads a
    /// winner that the policy decides against (SEMANTICS 161). The policy runs before that, outside of the
    /// transaction. Only a policy that waits, for example for a person, settles after the revisions are stored.
    public var conflictPolicy = ConflictPolicy.keepAll
    /// The number of conflicts that are settled at the same time; 4 by default. Consider more for a policy that asks a person.
    ///
    /// The policy is called off the caller's thread and without a lock.
    public var conflictsAtOnce = 4
    /// Whether concurrent edits become branches at the target, as in CouchDB, or are refused and listed in the
    /// ledger.
    public var branching = Branching.allowed
    /// Whether only the source's winner of each document is replicated; its other leaves are then listed in the
    /// ledger (SEMANTICS 207). This is part of the replication's id.
    package var replicatesOnlyWinners = false
    /// Whether the target is created if it does not exist.
    public var createsTarget = false
    /// Whether a missing source is created too. Used by a sync, whose other direction writes to it.
    package var createsSource = false
    /// Limits for batches and concurrent requests.
    public var limits = BatchLimits()
    /// The interval between checkpoints; 5 seconds by default. Another one is written at the end.
    public var checkpointInterval = Duration.seconds(5)
    /// Whether checkpoints are used. Without them every run compares all documents.
    public var usesCheckpoints = true
    /// The position of the source to start after, whatever the checkpoints say; `nil`, the default, for none. It is
    /// part of the replication's id, so such a replication has its own checkpoints.
    public var since: PeerSequence?
    /// When failed calls are retried.
    public var retry = ReplicationRetryPolicy()
    /// Whether to watch this machine's network if a peer is on another machine: after a change, waiting retries
    /// happen immediately, and connections are checked. `true` by default.
    public var watchesNetwork = true
    /// Reports network changes.
    var network = NetworkMonitor.shared
    /// Measures delays; tests replace it.
    package var clock: any Clock<Duration> = ContinuousClock()

    /// Creates a configuration for two peers, with the defaults.
    ///
    /// The direction is a push if only the source is a database of this process; otherwise a pull.
    public init(source: any Peer, target: any Peer) {
        self.source = source
        self.target = target
        direction = source.operations.database != nil && target.operations.database == nil ? .push : .pull
    }

    /// A replication from a database of this process to a peer.
    public static func push(_ database: Database, to peer: any Peer) -> ReplicationConfiguration {
        var configuration = ReplicationConfiguration(source: LocalPeer(database), target: peer)
        configuration.direction = .push
        return configuration
    }

    /// A replication from a peer to a database of this process.
    public static func pull(_ database: Database, from peer: any Peer) -> ReplicationConfiguration {
        var configuration = ReplicationConfiguration(source: peer, target: LocalPeer(database))
        configuration.direction = .pull
        return configuration
    }

    /// The id of the replication: 32 hexadecimal digits. The log has the same id, unless the code of a filter
    /// function is part of the log's id; see ``logID()``.
    ///
    /// - Throws: ``PeerError`` if the identity of a peer is not available.
    package func replicationID() async throws -> String { try await id(filterCode: nil).description }

    /// The id of the log on both sides. It includes the code of the filter function, which is read from the source,
    /// so that a changed function is applied to all documents (COUCHDB-892).
    ///
    /// - Throws: ``PeerError`` if the source can't be reached.
    func logID() async throws -> ReplicationID { try await id(filterCode: source.operations.filterCode(filter)) }

    private func id(filterCode: String?) async throws -> ReplicationID {
        ReplicationID(
            source: try await source.operations.identity(), target: try await target.operations.identity(),
            filter: filter, filterCode: filterCode, branching: branching, replicatesOnlyWinners: replicatesOnlyWinners,
            since: since)
    }

    /// The database of this process that owns the replication; the target if both sides are local.
    var database: Database? {
        let (source, target) = (source.operations.database, target.operations.database)
        return direction == .push ? source : target ?? source
    }

    /// The other side.
    var peer: any PeerOperations { (direction == .push ? target : source).operations }
}

// MARK: - ReplicationDirection

/// The direction of a replication, seen from the database of this process.
public enum ReplicationDirection: String, Sendable, Hashable {
    /// From this process to a peer.
    case push
    /// From a peer to this process; conflicts are settled here (SEMANTICS 3).
    case pull
}
