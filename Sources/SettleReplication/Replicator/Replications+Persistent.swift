public import SettleCore
import SettleDatabase
public import SettleHTTP

/// Replications that outlive the process.
extension Replications {
    /// Returns the credentials for an address, which has `http` for `ws`, and whose user is the one with which the
    /// replication was stored; `nil` to use the stored credentials.
    public typealias CredentialsSource = @Sendable (HTTPURL) async throws -> ReplicationCredentials?

    /// Makes a replication persistent: ``resume(credentials:client:configure:)`` starts it after the next launch, until
    /// it is removed or, if it is one-shot, has completed (SEMANTICS 94, 95).
    ///
    ///     let pull = try await notes.replications.replicator(configuration)
    ///     try await notes.replications.persist(pull)
    ///     pull.start()
    ///
    /// The current peer, direction, filter, and flags of the configuration are stored in a local document of the
    /// database; call this again after changing them. The conflict policy and the limits are not stored. Headers of
    /// the peer may contain secrets, so they are stored only if credentials are.
    ///
    /// - Parameters:
    ///   - replicator: One of this database's replications, with a ``CouchDBPeer`` or a ``MobilePeer``.
    ///   - storesCredentials: Whether to store the password, which is then readable by everyone who can read the
    ///     database. Otherwise only the user's name is stored.
    /// - Returns: The name under which it is stored.
    /// - Throws: ``PeerError`` with code `badRequest` for a replication that can't be stored; ``DatabaseError`` if the
    ///   database can't be written.
    @discardableResult
    public func persist(_ replicator: OneWayReplicator, storesCredentials: Bool = false) async throws -> String {
        let configuration = replicator.configuration
        guard let database, configuration.database === database, all.contains(where: { $0 === replicator }) else {
            throw PeerError(.badRequest, "the replication is none of this database's: get it of its replications")
        }
        let (name, document) = try await StoredReplications.entry(
            of: configuration, withCredentials: storesCredentials)
        try await database.perform { database in
            try database.changeStoredReplications { $0[name] = document }
        }
        recordStored(replicator, as: name)
        return name
    }

    /// Starts the persistent replications that are neither completed nor paused.
    ///
    /// A replication that exists already, but does not run, gets the stored configuration. One that runs keeps its own,
    /// also for later starts: what `credentials`, `client` and `configure` give is not used for it. To change that,
    /// suspend it before this call, or set its ``OneWayReplicator/configuration``.
    ///
    /// Call it once after opening the database and registering its validations and replication filters, which are not
    /// stored (SEMANTICS 125): nothing is replicated before.
    ///
    ///     try await notes.replications.resume { url in
    ///         .basic(user: url.user ?? "", password: try keychain.password(for: url.host))
    ///     }
    ///
    /// - Parameters:
    ///   - credentials: Returns the credentials for an address; the stored ones are used by default.
    ///   - client: Sends the requests of all replications; its options apply to WebSockets too.
    ///   - configure: Sets options that are not stored, such as the conflict policy.
    /// - Returns: The started replications.
    /// - Throws: Errors of `credentials` and `configure`; ``PeerError`` with code `badRequest` for a stored replication
    ///   that can't be read; ``DatabaseError``.
    @discardableResult
    public func resume(
        credentials: CredentialsSource? = nil, client: any HTTPTransport = DefaultTransport(),
        configure: (inout ReplicationConfiguration) throws -> Void = { _ in }
    ) async throws -> [OneWayReplicator] {
        guard let database else { return [] }
        let stored = try await database.perform { try $0.storedReplications() }
        var started: [OneWayReplicator] = []
        for stored in stored.documents {
            let (name, members) = (stored.name, stored.value.object ?? JSONObject())
            guard ReplicationDocument.state(of: members) == .pending else { continue }
            let (document, isPush, url) = try StoredReplications.read(members)
            var endpoint = isPush ? document.target : document.source
            let place = endpoint.told ?? url
            endpoint.credentials =
                try await credentials?(place) ?? endpoint.credentials ?? .automatic(for: url)
            let peer = try endpoint.peer(client)
            var configuration =
                isPush
                ? document.configuration(source: LocalPeer(database), target: peer)
                : document.configuration(source: peer, target: LocalPeer(database))
            configuration.direction = isPush ? .push : .pull
            configuration.createsTarget = document.createsTarget
            if members["branching"] == "refused" { configuration.branching = .refused }
            try configure(&configuration)
            // It may have been paused or removed while the credentials were awaited.
            guard try await database.storedState(of: name) == .pending else { continue }
            let known = all
            let replicator = try await replicator(configuration)
            // One that exists already may have been made with other flags and options than the stored ones.
            if !replicator.isRunning, known.contains(where: { $0 === replicator }) {
                replicator.configuration = configuration
            }
            recordStored(replicator, as: name)
            replicator.start()
            // A call that paused or removed it just before did not find it running.
            let state = try await database.storedState(of: name)
            if state == nil || state == .paused {
                await replicator.stop()
                if state == nil { recordRemoval { $0 == name } }
                continue
            }
            started.append(replicator)
        }
        return started
    }

    /// Replaces the credentials of a persistent replication by new ones of the same user, for example OAuth tokens.
    /// A running replication uses them from the next request on. They are stored if the old ones were (SEMANTICS
    /// 138). The checkpoint stays valid.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - credentials: The new credentials.
    /// - Throws: ``PeerError`` with code `notFound` if the name is unknown, `badRequest` for another user's credentials
    ///   or for those that can't be stored; ``DatabaseError``.
    public func renewPersistent(_ name: String, _ credentials: ReplicationCredentials) async throws {
        if let replicator = running(name), let peer = replicator.configuration.peer as? any AddressedPeer {
            try peer.renew(credentials)
        }
        try await change(name) { try $0.renew(name, credentials) }
    }

    /// The number of persistent replications, including completed ones.
    ///
    /// - Throws: ``DatabaseError`` if the database can't be read.
    public func persistentCount() throws -> Int {
        try database?.storedReplications().documents.count ?? 0
    }
}

// MARK: - Stored

/// Lists and changes persistent replications, running or not.
extension Replications {
    /// The persistent replications, in the order in which they were stored.
    ///
    /// - Throws: ``DatabaseError`` if the database can't be read; ``PeerError`` with code `badRequest` for a stored
    ///   replication that can't be read.
    public func persistent() throws -> [PersistentReplication] {
        guard let database else { return [] }
        return try database.storedReplications().documents.map { stored in
            let (name, members) = (stored.name, stored.value.object ?? JSONObject())
            let (document, isPush, url) = try StoredReplications.read(members)
            let endpoint = isPush ? document.target : document.source
            return PersistentReplication(
                name: name, direction: isPush ? .push : .pull, url: (endpoint.told ?? url).withoutPassword,
                isContinuous: document.isContinuous, state: state(of: members, name),
                hasPassword: endpoint.hasPassword, filter: ReplicationDocument.members(of: document.filter))
        }
    }

    /// Pauses a persistent replication: it is stopped if it runs, and does not start before
    /// ``continuePersistent(_:)``. The checkpoint stays, so it then continues where it stopped.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` if the name is unknown; ``DatabaseError``.
    public func pausePersistent(_ name: String) async throws {
        try await change(name) { $0.set(.paused, of: name) }
        await running(name)?.stop()
    }

    /// Continues a persistent replication that was paused or has completed: starts it if it is loaded in this process,
    /// otherwise the next `resume` does.
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` if the name is unknown; ``DatabaseError``.
    public func continuePersistent(_ name: String) async throws {
        try await change(name) { $0.set(.pending, of: name) }
        running(name)?.start()
    }

    /// Removes a persistent replication, and stops it if it runs. Documents and the checkpoint stay (SEMANTICS 102).
    ///
    /// - Parameter name: Its name.
    /// - Throws: ``PeerError`` with code `notFound` if the name is unknown; ``DatabaseError``.
    public func removePersistent(_ name: String) async throws {
        if let replicator = running(name) {
            await remove(replicator)
        } else {
            try await change(name) { $0[name] = nil }
            recordRemoval { $0 == name }
        }
    }

    private func state(of members: JSONObject, _ name: String) -> ReplicationState {
        let state = ReplicationDocument.state(of: members)
        switch running(name)?.status.mode {
        case .active? where state == .pending, .idle? where state == .pending: return .running
        case .offline? where state == .pending: return .crashing
        default: return state
        }
    }

    func change(_ name: String, _ body: @escaping @Sendable (inout StoredReplications) throws -> Void) async throws {
        guard let database else { return }
        let isThere = try await database.perform { database in
            try database.changeStoredReplications { stored in
                guard stored[name] != nil else { return false }
                try body(&stored)
                return true
            }
        }
        guard isThere else {
            throw PeerError(.notFound, "the database keeps no replication \"\(name)\"", status: 404)
        }
    }
}

// MARK: - PersistentReplication

/// A replication stored in a database; ``Replications/all`` lists the running ones.
public struct PersistentReplication: Sendable, Hashable {
    /// The name under which it is stored.
    public let name: String
    /// The direction.
    public let direction: ReplicationDirection
    /// The peer's address, with the user's name and without the password.
    public let url: HTTPURL
    /// Whether it is continuous.
    public let isContinuous: Bool
    /// Its state: pending until ``Replications/resume(credentials:client:configure:)`` or other code starts it;
    /// running or crashing in this process; paused or completed.
    public let state: ReplicationState
    /// Whether the password is stored with it.
    public let hasPassword: Bool
    /// Its filter, as the members `doc_ids`, `selector`, or `filter` and `query_params`; empty for all documents.
    public let filter: JSONObject
}

extension Database {
    /// The replications that the database stores.
    func storedReplications() throws -> StoredReplications {
        StoredReplications(try localDocument(StoredReplications.id)?.body.json)
    }

    /// The state in which a replication is stored; `nil` if it is not stored.
    fileprivate func storedState(of name: String) async throws -> ReplicationState? {
        try await perform { database in
            try database.storedReplications()[name].map { ReplicationDocument.state(of: $0) }
        }
    }

    /// Changes the stored replications in one transaction.
    func changeStoredReplications<Value: Sendable>(_ body: (inout StoredReplications) throws -> Value) throws -> Value {
        try transaction {
            var stored = try storedReplications()
            let before = stored
            let value = try body(&stored)
            guard stored != before else { return value }
            if let body = stored.body {
                try saveLocalDocument(StoredReplications.id, body: try DocumentBody(body))
            } else {
                try deleteLocalDocument(StoredReplications.id)
            }
            return value
        }
    }
}
