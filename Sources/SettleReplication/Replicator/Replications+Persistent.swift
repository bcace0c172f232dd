internal import RevisionTree
import SettleDatabase

/// Replications that outlive the process.
extension Replications {
    /// Gives credentials for an address, whose user is who they were of when the replication was kept; `nil` for those that
    /// were kept with it.
    public typealias CredentialsSource = @Sendable (HTTPURL) async throws -> Credentials?

    /// Makes a replication persistent: ``resume(credentials:client:configure:)`` starts it again after the next launch, until
    /// it is removed or, when it is not continuous, has been completed (SEMANTICS 94, 95).
    ///
    ///     let pull = try await notes.replications.replicator(configuration)
    ///     try await notes.replications.persist(pull)
    ///     pull.start()
    ///
    /// Peer, direction, filter, and the flags of the configuration are kept in a local document of the database, as they
    /// are now; call it again after they were changed. Conflict policy and limits are not. Headers of the peer are kept with
    /// the credentials, for they may be some.
    ///
    /// - Parameters:
    ///   - replicator: One of this database's replications, with a ``CouchDBPeer``.
    ///   - storesCredentials: Whether the password is kept with it, readable by whoever can read the database; else only the
    ///     user's name is.
    /// - Returns: The name under which it is kept.
    /// - Throws: ``PeerError`` with code `badRequest` for one that can't be kept; ``DatabaseError`` when the database can't
    ///   be written.
    @discardableResult
    public func persist(_ replicator: Replicator, storesCredentials: Bool = false) async throws -> String {
        let configuration = replicator.configuration
        guard let database, configuration.database === database, all.contains(where: { $0 === replicator }) else {
            throw PeerError(.badRequest, "the replication is none of this database's: get it of its replications")
        }
        let name = try await StoredReplications.name(of: configuration)
        let members = try StoredReplications.members(of: configuration, withCredentials: storesCredentials)
        try await database.perform { try StoredReplications(database: $0).set(name, members) }
        noteStored(replicator, as: name)
        return name
    }

    /// Starts the persistent replications that were neither completed nor told to wait.
    ///
    /// Call it once when the database was opened and its validations and replication filters are registered, for those are
    /// not kept (SEMANTICS 125): nothing is replicated before.
    ///
    ///     try await notes.replications.resume { url in
    ///         .basic(user: url.user ?? "", password: try keychain.password(for: url.host))
    ///     }
    ///
    /// - Parameters:
    ///   - credentials: Gives the credentials for an address; unless given, those that were kept are taken.
    ///   - client: Who sends the requests of all of them.
    ///   - configure: Sets what is not kept, such as the conflict policy.
    /// - Returns: Those that were started.
    /// - Throws: What `credentials` and `configure` throw; ``PeerError`` with code `badRequest` for a stored one that can't
    ///   be read; ``DatabaseError``.
    @discardableResult
    public func resume(
        credentials: CredentialsSource? = nil, client: any HTTPClient = CurlHTTPClient(),
        configure: (inout ReplicationConfiguration) throws -> Void = { _ in }
    ) async throws -> [Replicator] {
        guard let database else { return [] }
        let stored = try await database.perform { try StoredReplications(database: $0).all() }
        var started: [Replicator] = []
        for (name, members) in stored where StoredReplications.state(of: members) == .active {
            let (document, isPush, url) = try StoredReplications.read(members)
            let endpoint = isPush ? document.target : document.source
            let place = endpoint.told ?? url
            var options = CouchDBPeerOptions()
            options.headers = endpoint.headers
            let peer = try CouchDBPeer(
                url, credentials: try await credentials?(place) ?? endpoint.credentials ?? .automatic(for: url),
                client: client, options: options)
            var configuration =
                isPush
                ? document.configuration(source: LocalPeer(database), target: peer)
                : document.configuration(source: peer, target: LocalPeer(database))
            configuration.direction = isPush ? .push : .pull
            configuration.createsTarget = document.createsTarget
            if members["branching"] == "refused" { configuration.branching = .refused }
            try configure(&configuration)
            let replicator = try await replicator(configuration)
            noteStored(replicator, as: name)
            replicator.start()
            started.append(replicator)
        }
        return started
    }

    /// Gives a persistent replication new credentials of the same user, tokens of OAuth that take the place of old ones for
    /// example: from the next request on where it runs, and kept with it where the old ones were (SEMANTICS 138). Its checkpoint
    /// stays.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - credentials: The new credentials.
    /// - Throws: ``PeerError`` with code `notFound` where none has the name, `badRequest` for another user's credentials or
    ///   for those that can't be kept; ``DatabaseError``.
    public func renewPersistent(_ name: String, _ credentials: Credentials) async throws {
        if let replicator = running(name), let peer = replicator.configuration.peer as? CouchDBPeer {
            try peer.renew(credentials)
        }
        try await change(name) { try StoredReplications.renew(&$0, credentials) }
    }

    /// How many persistent replications there are, completed ones too.
    ///
    /// - Throws: ``DatabaseError`` when the database can't be read.
    public func persistentCount() throws -> Int {
        try database.map { try StoredReplications(database: $0).all().count } ?? 0
    }
}
