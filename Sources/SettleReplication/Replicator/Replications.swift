internal import RevisionTree
public import SettleDatabase
internal import SettlePlatform

/// The replications of a database, which belong to it: a ``Replicator`` that is kept or let go of is a view of one (K18).
///
///     let pair = try await notes.replications.replicate(with: hub)
///     for replicator in pair {
///         replicator.configuration.isContinuous = true
///         replicator.start()
///     }
///
/// Those that run are kept until they end, are removed, or the database is closed. They are forgotten when the process
/// ends, but for those that ``persist(_:storesCredentials:)`` was told of (SEMANTICS 94).
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
        /// The name under which the database keeps it, if it does.
        var stored: String?
    }

    private struct Owner { weak var database: Database? }

    private let entries = Guarded<[Key: Entry]>([:])
    private let owner: Guarded<Owner>

    init(_ database: Database) { owner = Guarded(Owner(database: database)) }

    /// The database whose replications these are, while it is there.
    var database: Database? { owner.withLock(\.database) }

    /// The replications there are.
    public var all: [Replicator] { entries.withLock { $0.values.compactMap(\.replicator) } }

    /// Gives the replication with a peer, of one direction and filter: the one that is there (SEMANTICS 99), or one that is
    /// made and not started.
    ///
    /// - Parameter configuration: What it is to do. Of one that is there already nothing but peer, direction and filter is
    ///   looked at.
    /// - Returns: The replication.
    /// - Throws: ``PeerError`` when the peer's identity can't be found out.
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
                    let stored = self?.entries.withLock { entries -> String? in
                        // One that was removed or replaced is not kept.
                        guard entries[key]?.replicator === replicator else { return nil }
                        entries[key]?.kept = isRunning ? replicator : nil
                        return entries[key]?.stored
                    }
                    if !isRunning, let stored { self?.noteEnd(of: replicator, stored) }
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
    /// - Throws: ``PeerError`` when the peer's identity can't be found out.
    func pair(with peer: (any Peer)?, of database: Database, exclusively: Bool) async throws -> [Replicator] {
        var pair: [Replicator] = []
        if let peer {
            pair.append(try await replicator(.pull(database, from: peer)))
            pair.append(try await replicator(.push(database, to: peer)))
        }
        if exclusively {
            for other in all where !pair.contains(where: { $0 === other }) { await remove(other) }
            // Those too that were not resumed.
            var kept: Set<String> = []
            for replicator in pair { kept.insert(try await StoredReplications.name(of: replicator.configuration)) }
            let names = kept
            try await database.perform { try StoredReplications(database: $0).removeAll(except: names) }
        }
        return pair
    }

    /// Stops a replication and forgets it, a persistent one too; documents and checkpoints stay (SEMANTICS 102).
    public func remove(_ replicator: Replicator) async {
        await replicator.stop()
        let stored = entries.withLock { entries in
            let names = entries.values.filter { $0.replicator === replicator }.compactMap(\.stored)
            entries = entries.filter { $0.value.replicator !== replicator }
            return names
        }
        for name in stored { change { try $0.set(name, nil) } }
    }

    /// Stops all replications and forgets them, persistent ones too.
    public func removeAll() async {
        for replicator in all { await remove(replicator) }
        change { try $0.removeAll() }
    }

    /// The replication of this process that the database keeps under a name.
    func running(_ name: String) -> Replicator? {
        entries.withLock { $0.values.first { $0.stored == name }?.replicator }
    }

    /// Takes note that the database keeps a replication.
    func noteStored(_ replicator: Replicator, as name: String) {
        entries.withLock { entries in
            for key in entries.keys where entries[key]?.replicator === replicator { entries[key]?.stored = name }
        }
    }

    /// One that is done is not started again.
    private func noteEnd(of replicator: Replicator, _ name: String) {
        guard replicator.isCompleted.withLock(\.self), !replicator.configuration.isContinuous else { return }
        change { stored in
            try stored.update(name) { members in members["_replication_state"] = "completed" }
        }
    }

    private func change(_ body: (StoredReplications) throws -> Void) {
        guard let database else { return }
        do { try body(StoredReplications(database: database)) } catch {
            database.warn("the list of persistent replications was not written: \(error)")
        }
    }
}

extension Database {
    /// The replications of this database.
    public var replications: Replications { companion(Replications.self) { Replications(self) } }

    /// The two replications with a peer, the pull first and then the push; the ones that are there, or new ones that are
    /// not continuous and not started. Set their configurations, and start them.
    ///
    /// - Parameters:
    ///   - peer: The peer; with `nil` there is none to replicate with.
    ///   - exclusively: Whether all other replications of this database are removed.
    /// - Returns: Pull and push, or none without a peer.
    /// - Throws: ``PeerError`` when the peer's identity can't be found out.
    @discardableResult
    public func replicate(with peer: (any Peer)?, exclusively: Bool = false) async throws -> [Replicator] {
        try await replications.pair(with: peer, of: self, exclusively: exclusively)
    }

    /// Keeps this database and a peer the same from now on: the two replications with the peer, both continuous and started
    /// (SEMANTICS 96). One that runs and is not continuous is stopped first.
    ///
    ///     let pair = try await notes.replicateContinuously(with: hub)
    ///
    /// They go on until the process ends; for the next launch, give them to ``Replications/persist(_:storesCredentials:)``.
    ///
    /// - Parameters:
    ///   - peer: The peer.
    ///   - exclusively: Whether all other replications of this database are removed.
    ///   - configure: Sets more of each configuration, such as the conflict policy.
    /// - Returns: Pull and push, running.
    /// - Throws: ``PeerError`` when the peer's identity can't be found out; what `configure` throws, and then none is started.
    @discardableResult
    public func replicateContinuously(
        with peer: any Peer, exclusively: Bool = false,
        configure: (inout ReplicationConfiguration) throws -> Void = { _ in }
    ) async throws -> [Replicator] {
        let pair = try await replications.pair(with: peer, of: self, exclusively: exclusively)
        let wasContinuous = pair.map(\.configuration.isContinuous)
        let configurations = try pair.map { replicator in
            var configuration = replicator.configuration
            configuration.isContinuous = true
            try configure(&configuration)
            return configuration
        }
        for (index, replicator) in pair.enumerated() {
            if !wasContinuous[index] { await replicator.stop() }
            replicator.configuration = configurations[index]
            replicator.start()
        }
        return pair
    }
}
