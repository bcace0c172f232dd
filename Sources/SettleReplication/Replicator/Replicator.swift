public import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps a database and a peer the same: it pulls what the peer has, settles conflicts, and pushes what the database has.
///
///     let replicator = try Replicator(database, peer: url, isContinuous: true)
///     replicator.start()
///     for await status in replicator.statuses { show(status.mode, status.completed, status.total, status.error) }
///
/// It is a pull and a push, ``parts``, with one status and one stream of events:
///
///     peer ──── pull ───▶ database      conflicts are settled here, by `conflictPolicy`
///     peer ◀─── push ──── database
///
/// What the two don't offer together, their configurations do: filters of one side, batches, intervals. A running replicator lives
/// until it ends or is stopped, even without a reference (SEMANTICS 103).
public final class Replicator: Sendable {
    /// What is copied.
    public enum Direction: Sendable, Hashable {
        /// Both ways.
        case pushAndPull
        /// From the database to the peer.
        case push
        /// From the peer to the database.
        case pull
    }

    /// The replications it consists of: the pull, then the push, as far as the direction has them.
    public let parts: [OneWayReplicator]

    /// Creates a replicator for a database that a server has: CouchDB or Settle, or Sync Gateway by a `ws` or `wss` URL.
    ///
    /// - Parameters:
    ///   - database: The database of this process.
    ///   - url: The database at the server: `https://couch.example/notes`. A name and a password in it are credentials.
    ///   - direction: What is copied; both ways by default.
    ///   - isContinuous: Whether it goes on, idle when all is done; no by default.
    ///   - credentials: How it authenticates; by the URL, or what ``CredentialStore/shared`` has for the server, by default.
    ///   - filter: Which documents are copied; all by default.
    ///   - conflictPolicy: How conflicts are settled that a pull finds; they stay by default.
    ///   - createsDatabase: Whether a missing database is created at the server; no by default. Sync Gateway creates none.
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
    ///   - direction: What is copied; both ways by default.
    ///   - change: Changes the configuration of each part; nothing by default.
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
                    // Under the lock, so that the newest comes last.
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

    /// Starts all parts, unless they run.
    public func start() {
        for part in parts { part.start() }
    }

    /// Starts all parts and waits for their end. One that is not continuous pulls first, so that the push sends what conflicts were
    /// settled to. If the task is cancelled, the replicator is stopped.
    ///
    /// - Returns: What each part did, in the order of ``parts``.
    /// - Throws: ``PeerError`` if a part can't continue, as ``OneWayReplicator/run()``; the parts after it are not started, and those that
    ///   run are stopped. `CancellationError` if the task was cancelled before all parts were started.
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

    /// Stops all parts: each stores what was fetched, settles pending conflicts and writes a checkpoint. Then ``statuses`` end.
    public func stop() async { for part in parts { await part.stop() } }

    /// Stops all parts immediately, for an app that moves to the background.
    public func suspend() async { for part in parts { await part.suspend() } }
}

// MARK: - ReplicatorStatus

/// The status of a ``Replicator``: that of its parts together.
public struct ReplicatorStatus: Sendable, Equatable {
    /// The statuses of the parts, in the order of ``Replicator/parts``.
    public let parts: [ReplicationStatus]

    init(_ parts: [ReplicationStatus]) { self.parts = parts }

    /// The activity: `active` if a part is, else `offline` if a part is, else `idle` if a part is, else `stopped`.
    public var mode: ReplicationStatus.Mode {
        [.active, .offline, .idle].first { mode in parts.contains { $0.mode == mode } } ?? .stopped
    }

    /// How many changed documents are done since it was last idle or stopped.
    public var completed: Int { ReplicationProgress(parts).completed }

    /// How many changed documents are known; at least ``completed``.
    public var total: Int { ReplicationProgress(parts).total }

    /// The completed fraction, from 0 to 1; `nil` if there is nothing to do.
    public var fraction: Double? { ReplicationProgress(parts).fraction }

    /// The reason why a part failed, or can't reach the peer; `nil` again after a success.
    public var error: PeerError? { parts.lazy.compactMap(\.error).first }

    /// How many known conflicts are waiting or being settled.
    public var pendingConflicts: Int { parts.reduce(0) { $0 + $1.pendingConflicts } }
}
