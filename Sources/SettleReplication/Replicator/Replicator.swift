public import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps a database and a peer in sync: it pulls from the peer, settles conflicts, and pushes to the peer.
///
///     let replicator = try Replicator(database, peer: url, isContinuous: true)
///     replicator.start()
///     for await status in replicator.statuses { show(status.mode, status.completed, status.total, status.error) }
///
/// It consists of a pull and a push, ``parts``, with one status and one stream of events:
///
///     peer ──── pull ───▶ database      conflicts are settled here, by `conflictPolicy`
///     peer ◀─── push ──── database
///
/// For further options, such as filters of one direction, batches or intervals, change the configurations of the
/// parts. A running replicator lives until it ends or is stopped, even without a reference (SEMANTICS 103).
public final class Replicator: Sendable {
    /// The direction of a replicator.
    public enum Direction: Sendable, Hashable {
        /// Both ways.
        case pushAndPull
        /// From the database to the peer.
        case push
        /// From the peer to the database.
        case pull
    }

    /// The replications that it consists of: the pull, then the push, as far as the direction includes them.
    public let parts: [OneWayReplicator]

    /// Creates a replicator for a database at a server: CouchDB or Settle, or Sync Gateway by a `ws` or `wss` URL.
    ///
    /// - Parameters:
    ///   - database: The database of this process.
    ///   - url: The database at the server: `https://couch.example/notes`. A name and a password in it are credentials.
    ///   - direction: The direction; both by default.
    ///   - isContinuous: Whether it continues after everything is done; `false` by default.
    ///   - credentials: The credentials; by default those of the URL, or those of ``CredentialStore/shared`` for
    ///     the server.
    ///   - filter: The documents to copy; all by default.
    ///   - conflictPolicy: The policy for conflicts that a pull finds; by default conflicts stay.
    ///   - createsDatabase: Whether to create a missing database at the server; `false` by default. Sync Gateway
    ///     does not support it.
    /// - Throws: ``PeerError`` with code `badRequest` if the URL names no database.
    public convenience init(
        _ database: Database, peer url: URL, direction: Direction = .pushAndPull, isContinuous: Bool = false,
        credentials: ReplicationCredentials? = nil, filter: ReplicationFilter = .all,
        conflictPolicy: ConflictPolicy = .keepAll,
        createsDatabase: Bool = false
    ) throws {
        let peer = try PeerAddress(url.absoluteString).peer(credentials: credentials, client: DefaultTransport())
        self.init(database, with: peer, direction: direction) { configuration in
            configuration.isContinuous = isContinuous
            configuration.filter = filter
            configuration.conflictPolicy = conflictPolicy
            (configuration.createsTarget, configuration.createsSource) = (createsDatabase, createsDatabase)
        }
    }

    /// Creates a replicator for any peer, such as a ``LocalPeer``.
    ///
    /// - Parameters:
    ///   - database: The database of this process.
    ///   - peer: The peer.
    ///   - direction: The direction; both by default.
    ///   - change: Changes the configuration of each part; by default it changes nothing.
    public init(
        _ database: Database, with peer: any Peer, direction: Direction = .pushAndPull,
        _ change: (inout ReplicationConfiguration) -> Void = { _ in }
    ) {
        let all: [(Direction, ReplicationConfiguration)] = [
            (.pull, .pull(database, from: peer)), (.push, .push(database, to: peer)),
        ]
        parts = all.filter { direction == .pushAndPull || direction == $0.0 }.map { part in
            var configuration = part.1
            change(&configuration)
            return OneWayReplicator(configuration)
        }
    }

    /// The status of all parts together.
    public var status: ReplicatorStatus { ReplicatorStatus(parts.map(\.status)) }

    /// The current status and then each change. A slow reader misses intermediate statuses and always gets the newest.
    ///
    /// The stream ends with the status `stopped` after ``stop()``, or when the replicator is released. It continues when a one-shot
    /// replication ends, a run fails, or ``suspend()`` is called.
    public var statuses: AsyncStream<ReplicatorStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReplicatorStatus.self, bufferingPolicy: .bufferingNewest(1))
        let known = Guarded((statuses: parts.map(\.status), running: parts.count))
        let tasks = parts.enumerated().map { index, part in
            let statuses = part.statuses
            return Task {
                for await status in statuses {
                    // Under the lock, so that the newest status comes last.
                    known.withLock { known in
                        known.statuses[index] = status
                        continuation.yield(ReplicatorStatus(known.statuses))
                    }
                }
                let isLast = known.withLock { known in
                    known.running -= 1
                    return known.running == 0
                }
                if isLast { continuation.finish() }
            }
        }
        continuation.onTermination = { _ in
            for task in tasks { task.cancel() }
        }
        return stream
    }

    /// Starts all parts, unless they run. A part that is being stopped starts as soon as it has stopped.
    public func start() {
        for part in parts { part.start() }
    }

    /// Starts all parts and waits for their end. Without `isContinuous` it pulls first, so that the push sends the
    /// results of settled conflicts. If the task is cancelled, the replicator is stopped.
    ///
    /// - Returns: The result of each part, in the order of ``parts``.
    /// - Throws: ``PeerError`` if a part can't continue, as ``OneWayReplicator/run()``; later parts are then not
    ///   started, and running ones are stopped. `CancellationError` if the task was cancelled before all parts were
    ///   started.
    @discardableResult
    public func run() async throws -> [ReplicationResult] {
        guard parts.contains(where: \.configuration.isContinuous) else {
            var results: [ReplicationResult] = []
            for part in parts {
                try Task.checkCancellation()
                results.append(try await part.run())
            }
            return results
        }
        return try await withThrowingTaskGroup(of: (Int, ReplicationResult).self) { group in
            for (index, part) in parts.enumerated() { group.addTask { (index, try await part.run()) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    /// Stops all parts, as ``OneWayReplicator/stop()``: each stores the fetched revisions, settles pending conflicts
    /// and, if the peers can be reached, writes a checkpoint. Then ``statuses`` end.
    public func stop() async { for part in parts { await part.stop() } }

    /// Stops all parts immediately, for an app that moves to the background.
    public func suspend() async { for part in parts { await part.suspend() } }
}

// MARK: - ReplicatorStatus

/// The combined status of a ``Replicator``'s parts.
public struct ReplicatorStatus: Sendable, Equatable {
    /// The statuses of the parts, in the order of ``Replicator/parts``.
    public let parts: [ReplicationStatus]

    init(_ parts: [ReplicationStatus]) { self.parts = parts }

    /// The activity: `active` if a part is active; otherwise `offline` if a part is; otherwise `idle` if a part is;
    /// otherwise `stopped`.
    public var mode: ReplicationStatus.Mode {
        [.active, .offline, .idle].first { mode in parts.contains { $0.mode == mode } } ?? .stopped
    }

    /// The number of changed documents that were processed since it was last idle or stopped.
    public var completed: Int { ReplicationProgress(parts).completed }

    /// The number of known changed documents; at least ``completed``.
    public var total: Int { ReplicationProgress(parts).total }

    /// The completed fraction, from 0 to 1; `nil` if there is nothing to do.
    public var fraction: Double? { ReplicationProgress(parts).fraction }

    /// The reason why a part failed, or can't reach the peer; `nil` again after a success.
    public var error: PeerError? { parts.lazy.compactMap(\.error).first }

    /// The number of known conflicts that wait or are being settled.
    public var pendingConflicts: Int { parts.reduce(0) { $0 + $1.pendingConflicts } }
}
