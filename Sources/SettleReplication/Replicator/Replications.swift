internal import SettleCore
public import SettleDatabase
internal import SettlePlatform

/// The replications of a database. The database owns them: releasing a running ``OneWayReplicator`` does not stop
/// it (K18).
///
///     let pair = try await notes.replications.replicate(with: hub)
///     for replicator in pair {
///         replicator.configuration.isContinuous = true
///         replicator.start()
///     }
///
/// A replication is kept until its run ends, it is removed, or the database is closed, so a database with one that was
/// never started has to be closed. Replications are lost when the process ends, except those passed to
/// ``persist(_:storesCredentials:)`` (SEMANTICS 94).
public final class Replications: Sendable {
    private struct Key: Hashable {
        let peer: ExactText
        let direction: ReplicationDirection
        let filter: JSONValue
    }

    private struct Entry {
        weak var replicator: OneWayReplicator?
        /// A strong reference, from the creation of the replication until its run ends.
        var kept: OneWayReplicator?
        /// The name under which the database stores it; `nil` if it is not persistent.
        var stored: String?
    }

    private struct Owner { weak var database: Database? }

    private let entries = Guarded<[Key: Entry]>([:])
    private let owner: Guarded<Owner>

    init(_ database: Database) { owner = Guarded(Owner(database: database)) }

    /// The database that owns the replications, while it is open.
    var database: Database? { owner.withLock(\.database) }

    /// The current replications.
    public var all: [OneWayReplicator] { entries.withLock { $0.values.compactMap(\.replicator) } }

    /// Returns the replication with a peer, direction and filter: the existing one (SEMANTICS 99), or a new one that is
    /// not started.
    ///
    /// - Parameter configuration: The configuration. For an existing replication only peer, direction and filter are
    ///   used.
    /// - Returns: The replication.
    /// - Throws: ``PeerError`` if the peer's identity can't be determined.
    public func replicator(_ configuration: ReplicationConfiguration) async throws -> OneWayReplicator {
        let key = Key(
            peer: ExactText(try await configuration.peer.identity()), direction: configuration.direction,
            filter: ReplicationID.meaning(of: configuration.filter))
        return entries.withLock { entries in
            if let replicator = entries[key]?.replicator { return replicator }
            let replicator = OneWayReplicator(configuration)
            // One that has ended and was released may be stored in the database.
            entries[key] = Entry(replicator: replicator, kept: replicator, stored: entries[key]?.stored)
            replicator.onRunning.withLock { onRunning in
                onRunning = { [weak self] replicator, isRunning in
                    let stored = self?.entries.withLock { entries -> String? in
                        // A replication that was removed or replaced is not kept.
                        guard entries[key]?.replicator === replicator else { return nil }
                        entries[key]?.kept = isRunning ? replicator : nil
                        return entries[key]?.stored
                    }
                    if !isRunning, let stored { self?.recordEnd(of: replicator, stored) }
                }
            }
            return replicator
        }
    }

    /// Returns the two replications with a peer, the pull first and then the push (SEMANTICS 98); new ones are one-shot
    /// and not started (95, 96).
    ///
    /// - Parameters:
    ///   - peer: The peer; `nil` for none.
    ///   - database: The database that owns the replications.
    ///   - exclusively: Whether to remove all other replications of this database, including filtered ones with the
    ///     same peer (SEMANTICS 100); without a peer that means all (101).
    /// - Returns: The pull and the push; empty without a peer.
    /// - Throws: ``PeerError`` if the peer's identity can't be determined.
    func pair(with peer: (any Peer)?, of database: Database, exclusively: Bool) async throws -> [OneWayReplicator] {
        var pair: [OneWayReplicator] = []
        if let peer {
            pair.append(try await replicator(.pull(database, from: peer)))
            pair.append(try await replicator(.push(database, to: peer)))
        }
        if exclusively {
            for other in all where !pair.contains(where: { $0 === other }) { await remove(other) }
            // Including persistent ones that were not resumed.
            var kept: Set<String> = []
            for replicator in pair { kept.insert(try await StoredReplications.name(of: replicator.configuration)) }
            let names = kept
            try await database.perform { database in
                try database.changeStoredReplications { stored in
                    for name in stored.documents.names where !names.contains(name) { stored[name] = nil }
                }
            }
            recordRemoval { !names.contains($0) }
        }
        return pair
    }

    /// Stops and removes a replication, even a persistent one. Documents and checkpoints stay (SEMANTICS 102).
    public func remove(_ replicator: OneWayReplicator) async {
        await replicator.stop()
        let stored = entries.withLock { entries in
            let names = entries.values.filter { $0.replicator === replicator }.compactMap(\.stored)
            entries = entries.filter { $0.value.replicator !== replicator }
            return names
        }
        for name in stored { change { $0[name] = nil } }
    }

    /// Stops and removes all replications, including persistent ones.
    public func removeAll() async {
        for replicator in all { await remove(replicator) }
        change { $0 = StoredReplications() }
        recordRemoval { _ in true }
    }

    /// The loaded replication that the database has stored under a name.
    func running(_ name: String) -> OneWayReplicator? {
        entries.withLock { $0.values.first { $0.stored == name }?.replicator }
    }

    /// Records that the database stores a replication.
    func recordStored(_ replicator: OneWayReplicator, as name: String) {
        entries.withLock { entries in
            for key in entries.keys where entries[key]?.replicator === replicator { entries[key]?.stored = name }
        }
    }

    /// Records that the database no longer stores the replications with these names.
    func recordRemoval(where isRemoved: (String) -> Bool) {
        entries.withLock { entries in
            for (key, entry) in entries where entry.stored.map(isRemoved) ?? false { entries[key]?.stored = nil }
        }
    }

    /// Marks a stored replication as completed, so that it is not started again.
    private func recordEnd(of replicator: OneWayReplicator, _ name: String) {
        guard replicator.isCompleted.withLock(\.self), !replicator.configuration.isContinuous else { return }
        change { $0.set(.completed, of: name) }
    }

    private func change(_ body: (inout StoredReplications) -> Void) {
        guard let database else { return }
        do { try database.changeStoredReplications(body) } catch {
            database.warn("the list of persistent replications was not written: \(error)", in: .replication)
        }
    }
}

extension Database {
    /// The replications of this database.
    public var replications: Replications { companion(Replications.self) { Replications(self) } }

    /// The two replications with a peer, first the pull and then the push: existing ones, or new ones that are
    /// one-shot and not started. Configure and start them.
    ///
    /// - Parameters:
    ///   - peer: The peer; `nil` for none.
    ///   - exclusively: Whether to remove all other replications of this database.
    /// - Returns: The pull and the push; empty without a peer.
    /// - Throws: ``PeerError`` if the peer's identity can't be determined.
    @discardableResult
    public func replicate(with peer: (any Peer)?, exclusively: Bool = false) async throws -> [OneWayReplicator] {
        try await replications.pair(with: peer, of: self, exclusively: exclusively)
    }

    /// Keeps this database and a peer in sync from now on: both replications with the peer, continuous and started
    /// (SEMANTICS 96). A running one-shot replication is stopped first.
    ///
    ///     let pair = try await notes.replicateContinuously(with: hub)
    ///
    /// They run until the process ends; for the next launch, pass them to
    /// ``Replications/persist(_:storesCredentials:)``.
    ///
    /// - Parameters:
    ///   - peer: The peer.
    ///   - exclusively: Whether to remove all other replications of this database.
    ///   - configure: Changes each configuration, for example the conflict policy.
    /// - Returns: The running pull and push.
    /// - Throws: ``PeerError`` if the peer's identity can't be determined; errors of `configure`. Then no
    ///   replication is started.
    @discardableResult
    public func replicateContinuously(
        with peer: any Peer, exclusively: Bool = false,
        configure: (inout ReplicationConfiguration) throws -> Void = { _ in }
    ) async throws -> [OneWayReplicator] {
        let pair = try await replications.pair(with: peer, of: self, exclusively: exclusively)
        let wasContinuous = pair.map(\.configuration.isContinuous)
        let configurations = try pair.map { replicator in
            var configuration = replicator.configuration
            configuration.isContinuous = true
            try configure(&configuration)
            return configuration
        }
        for (index, replicator) in pair.enumerated() {
            if !wasContinuous[index] { await replicator.halt() }
            replicator.configuration = configurations[index]
            replicator.start()
        }
        return pair
    }
}
