import Settle
import SettleTesting
import Testing

/// Two sides between which replication must behave the same, whatever they are. To add a pair, add a line to `all`.
struct PeerPair: Sendable, CustomTestStringConvertible {
    /// One side: the database itself, to write to and to inspect, and its peer for replications.
    ///
    /// A database in another program can't be inspected. Then the local one is a copy of it, which is replicated to it
    /// before a replication and from it afterwards.
    final class Side: Sendable {
        let database: Database
        let peer: any Peer
        private let isCopy: Bool
        private let kept: any Sendable

        init(_ database: Database, _ peer: any Peer, isCopy: Bool = false, keeping kept: any Sendable) {
            self.database = database
            self.peer = peer
            self.isCopy = isCopy
            self.kept = kept
        }

        /// Replicates the local copy to the peer.
        func send() async throws {
            if isCopy { try await OneWayReplicator(.push(database, to: peer)).run() }
        }

        /// Replicates the peer to the local copy.
        func bring() async throws {
            if isCopy { try await OneWayReplicator(.pull(database, from: peer)).run() }
        }
    }

    let testDescription: String
    let makeSource: @Sendable () async throws -> Side
    let makeTarget: @Sendable () async throws -> Side

    /// Pairs of databases of this process.
    static let local = [
        PeerPair("memory → memory", local(.memory), local(.memory)),
        PeerPair("file → file", local(.file), local(.file)),
    ]

    /// All pairs.
    static let all =
        local + [
            PeerPair("file → http", local(.file), served),
            PeerPair("http → file", served, local(.file)),
            PeerPair("http → http", served, served),
        ]

    /// All pairs, and those with the CouchDB of `SETTLE_COUCHDB_URL` if it is set.
    static let everywhere =
        ServerKind.all == [.settle]
        ? all
        : all + [
            PeerPair("memory → CouchDB", local(.memory), couchDB),
            PeerPair("CouchDB → memory", couchDB, local(.memory)),
            PeerPair("file → CouchDB", local(.file), couchDB),
            PeerPair("CouchDB → file", couchDB, local(.file)),
            PeerPair("http → CouchDB", served, couchDB),
            PeerPair("CouchDB → http", couchDB, served),
            PeerPair("CouchDB → CouchDB", couchDB, couchDB),
        ]

    /// Pairs whose source is in this process, so that filters run here.
    static let fromLocal = [local[0], local[1], all[2]]

    private init(
        _ name: String, _ source: @escaping @Sendable () async throws -> Side,
        _ target: @escaping @Sendable () async throws -> Side
    ) {
        testDescription = name
        makeSource = source
        makeTarget = target
    }

    private static func local(_ kind: DatabaseKind) -> @Sendable () async throws -> Side {
        {
            let temporary = try Kept(TemporaryDatabase(kind))
            return Side(temporary.database, LocalPeer(temporary.database), keeping: temporary)
        }
    }
}

/// Serves a database over HTTP, on this machine.
@Sendable private func served() async throws -> PeerPair.Side {
    let server = try LiveServer()
    let peer = try CouchDBPeer(server.url("served"))
    try await peer.create()
    // The server has opened it, so this is the same object.
    let database = try DocumentStore(path: server.folder.path).open("served")
    return PeerPair.Side(database, peer, keeping: server)
}

/// A database of the available CouchDB.
@Sendable private func couchDB() async throws -> PeerPair.Side {
    let peer = try PeerHome().peer(.couchdb)
    try await peer.create()
    let copy = try Kept(TemporaryDatabase(.memory))
    return PeerPair.Side(copy.database, peer, isCopy: true, keeping: copy)
}

/// Keeps a temporary database from being removed.
///
/// Unchecked: it is never used, only released.
final class Kept: @unchecked Sendable {
    private let temporary: TemporaryDatabase
    let database: Database

    init(_ temporary: TemporaryDatabase) {
        self.temporary = temporary
        database = temporary.database
    }
}

extension PeerPair {
    /// Both sides.
    func make() async throws -> (source: Side, target: Side) { (try await makeSource(), try await makeTarget()) }
}

/// Replicates once.
@discardableResult
func replicate(
    _ source: PeerPair.Side, to target: PeerPair.Side, _ change: (inout ReplicationConfiguration) -> Void = { _ in }
) async throws -> ReplicationResult {
    var configuration = ReplicationConfiguration(source: source.peer, target: target.peer)
    change(&configuration)
    try await source.send()
    try await target.send()
    let result = try await OneWayReplicator(configuration).run()
    try await target.bring()
    return result
}
