internal import RevisionTree
public import SettleDatabase

/// The replications of a database, which belong to it: a ``Replicator`` that is kept or let go of is a view of one (K18).
///
///     let pair = try await notes.replications.replicate(with: hub)
///     for replicator in pair {
///         replicator.configuration.isContinuous = true
///         replicator.start()
///     }
///
/// Those that run are kept until they end, are removed, or the database is closed. They are forgotten when the process
/// ends (SEMANTICS 94).
public final class Replications: Sendable {
    private struct Key: Hashable {
        let peer: String
        let direction: ReplicationDirection
        let filter: String
    }

    private struct Entry {
        weak var replicator: Replicator?
        /// The same, until it has run and ended.
        var kept: Replicator?
    }

    private let entries = Guarded<[Key: Entry]>([:])

    init() {}

    /// The replications there are.
    public var all: [Replicator] { entries.withLock { $0.values.compactMap(\.replicator) } }

    /// Gives the replication with a peer, of one direction and filter: the one that is there (SEMANTICS 99), or one that is
    /// made and not started.
    ///
    /// - Parameter configuration: What it is to do. Of one that is there already nothing but peer, direction and filter is
    ///   looked at.
    /// - Returns: The replication.
    /// - Throws: ``PeerError`` when the peer's identity can't be told.
    public func replicator(_ configuration: ReplicationConfiguration) async throws -> Replicator {
        let key = Key(
            peer: try await configuration.peer.identity(), direction: configuration.direction,
            filter: ReplicationID.meaning(of: configuration.filter).description)
        return entries.withLock { entries in
            if let replicator = entries[key]?.replicator { return replicator }
            let replicator = Replicator(configuration)
            entries[key] = Entry(replicator: replicator, kept: replicator)
            replicator.onRunning.withLock { onRunning in
                onRunning = { [weak self] replicator, isRunning in
                    self?.entries.withLock { entries in
                        // One that was removed or replaced is not kept.
                        guard entries[key]?.replicator === replicator else { return }
                        entries[key]?.kept = isRunning ? replicator : nil
                    }
                }
            }
            return replicator
        }
    }

    /// Gives the two replications with a peer, the pull first and then the push (SEMANTICS 98), not continuous and not
    /// started (95, 96).
    ///
    /// - Parameters:
    ///   - peer: The peer; with `nil` there is none to replicate with.
    ///   - database: The database whose replications these are.
    ///   - exclusively: Whether all other replications of this database are removed, filtered ones with the same peer too
    ///     (SEMANTICS 100); with no peer that is all of them (101).
    /// - Returns: Pull and push, or none without a peer.
    /// - Throws: ``PeerError`` when the peer's identity can't be told.
    func pair(with peer: (any Peer)?, of database: Database, exclusively: Bool) async throws -> [Replicator] {
        var pair: [Replicator] = []
        if let peer {
            pair.append(try await replicator(.pull(database, from: peer)))
            pair.append(try await replicator(.push(database, to: peer)))
        }
        if exclusively {
            for other in all where !pair.contains(where: { $0 === other }) { await remove(other) }
        }
        return pair
    }

    /// Stops a replication and forgets it; documents and checkpoints stay (SEMANTICS 102).
    public func remove(_ replicator: Replicator) async {
        await replicator.stop()
        entries.withLock { entries in entries = entries.filter { $0.value.replicator !== replicator } }
    }

    /// Stops all replications and forgets them.
    public func removeAll() async {
        for replicator in all { await remove(replicator) }
    }
}

extension Database {
    /// The replications of this database.
    public var replications: Replications { companion(Replications.self) { Replications() } }

    /// The two replications with a peer, the pull first and then the push; the ones that are there, or new ones that are
    /// not continuous and not started. Set their configurations, and start them.
    ///
    /// - Parameters:
    ///   - peer: The peer; with `nil` there is none to replicate with.
    ///   - exclusively: Whether all other replications of this database are removed.
    /// - Returns: Pull and push, or none without a peer.
    /// - Throws: ``PeerError`` when the peer's identity can't be told.
    @discardableResult
    public func replicate(with peer: (any Peer)?, exclusively: Bool = false) async throws -> [Replicator] {
        try await replications.pair(with: peer, of: self, exclusively: exclusively)
    }
}
