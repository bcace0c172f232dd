public import SettleDatabase

/// What a replication is to do.
///
///     var configuration = ReplicationConfiguration.pull(notes, from: hub)
///     configuration.isContinuous = true
///     configuration.conflictPolicy = .threeWayMerge()
///
/// It is frozen when the replication starts: a change after that takes effect with the next start (SEMANTICS 45).
public struct ReplicationConfiguration: Sendable {
    /// Where documents come from.
    public var source: any Peer
    /// Where they go to.
    public var target: any Peer
    /// Which way that is, seen from this process; it says who settles conflicts, and what a refused document does to the
    /// checkpoint.
    public var direction: ReplicationDirection
    /// Which documents take part; all unless set.
    public var filter = ReplicationFilter.all
    /// Whether it goes on for ever, idle and waking when something changes (SEMANTICS 93); not unless set (95).
    public var isContinuous = false
    /// How conflicts are settled that a pull brings into a database of this process; ``ConflictPolicy/keepAll`` unless set
    /// (K4). It is not asked in a push.
    ///
    /// What a pull brings and what settles its conflicts are written in one transaction, so nobody reads a winner that the
    /// policy decides against (SEMANTICS 161). The policy is asked before that, outside of it. Only one that waits, for a
    /// person say, settles after what came is stored.
    public var conflictPolicy = ConflictPolicy.keepAll
    /// How many conflicts are settled at the same time; 4 unless set. A policy that asks a person may be given more.
    public var conflictsAtOnce = 4
    /// Whether concurrent edits become branches at the target, as in CouchDB, or are refused and listed.
    public var branching = Branching.allowed
    /// Whether the target is created if there is none.
    public var createsTarget = false
    /// How much is on its way at the same time.
    public var limits = BatchLimits()
    /// How often a checkpoint is written while documents come; 5 seconds unless set. One is written at the end, too.
    public var checkpointInterval = Duration.seconds(5)
    /// Whether there are checkpoints at all. Without them every run compares all documents.
    public var usesCheckpoints = true
    /// The position of the source to begin after, whatever the checkpoints say; none unless set. It is part of what the
    /// replication means, so such a one has checkpoints of its own.
    public var since: PeerSequence?
    /// When calls that failed are made again.
    public var retry = RetryPolicy()
    /// Whether a change of this machine's network is looked at, where a peer is on another machine: what waits to be tried again
    /// is tried at once, and what seems to be there is looked for. Yes unless set.
    public var watchesNetwork = true
    /// What tells of changes of the network.
    var network = NetworkMonitor.shared
    /// What measures delays; another one is for tests.
    package var clock: any Clock<Duration> = ContinuousClock()

    /// Makes a configuration of two peers, with the defaults.
    ///
    /// Its direction is a push where only the source is a database of this process, else a pull.
    public init(source: any Peer, target: any Peer) {
        self.source = source
        self.target = target
        direction = source.database != nil && target.database == nil ? .push : .pull
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

    /// A name for what it is to do: 32 hexadecimal digits. It is that of the log on both sides, unless a filter function has a
    /// part in that; see ``logID()``.
    ///
    /// - Throws: ``PeerError`` when the identity of a peer can't be told.
    package func replicationID() async throws -> String { try await id(filterCode: nil).description }

    /// The name under which both sides keep its log. It is another one when the code of the filter function is, which the source
    /// is asked for, so that a changed function is asked about all documents (COUCHDB-892).
    ///
    /// - Throws: ``PeerError`` when the source can't be reached.
    func logID() async throws -> ReplicationID { try await id(filterCode: source.filterCode(filter)) }

    private func id(filterCode: String?) async throws -> ReplicationID {
        ReplicationID(
            source: try await source.identity(), target: try await target.identity(), filter: filter,
            filterCode: filterCode, branching: branching, since: since)
    }

    /// The database of this process whose replication it is; the target's of two.
    var database: Database? { direction == .push ? source.database : target.database ?? source.database }

    /// The other side.
    var peer: any Peer { direction == .push ? target : source }
}
