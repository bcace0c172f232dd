public import RevisionTree
public import SettleDatabase

/// A database of this process as one side of a replication.
///
///     let copy = LocalPeer(try Database.openOrCreate("copy.settle"))
///     try await Replicator(.push(database, to: copy)).run()
///
/// Every call does its work on another thread than the caller's, and many documents at a time.
public struct LocalPeer: Peer {
    /// The database of the call.
    let local: Database
    /// How messages name it: its folder.
    public let name: String
    private let givenIdentity: String?

    /// Makes a peer of a database.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - name: How messages name it; its folder, or `memory`, unless given.
    ///   - identity: What enters the ids of its replications; a name that was made with the database and goes with its
    ///     file unless given. Where databases are known by stable names of their own, as on a server, give those: then one
    ///     that was deleted and made anew is noticed and said (SEMANTICS 206), and is no other replication.
    public init(_ database: Database, name: String? = nil, identity: String? = nil) {
        local = database
        self.name = name ?? database.path ?? "memory"
        givenIdentity = identity
    }

    /// The database itself.
    public var database: Database? { local }

    /// The identity that was given, or the name that was made with the database.
    public func identity() async throws -> String {
        if let givenIdentity { return "local:\(givenIdentity)" }
        return try await perform { "local:\(try $0.instanceName())" }
    }

    /// The version of a registered function; `nil` for the first one.
    public func filterCode(_ filter: ReplicationFilter) async throws -> String? {
        guard case .named(let name, _) = filter, let version = local.replicationFilter(name)?.version, version != 1
        else { return nil }
        return "version \(version)"
    }

    /// Looks how far the database has come.
    public func connect() async throws -> PeerInfo {
        try await perform { database in
            PeerInfo(
                product: "Settle", instance: try database.instanceName(),
                lastSequence: PeerSequence(local: try database.lastSequence()))
        }
    }

    /// Does nothing: the database is there.
    public func create() async throws {}

    /// Notes that another peer holds revisions; see ``Database/markShared(_:)``.
    public func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws {
        try await perform { try $0.markShared(revisions) }
    }

    /// Does nothing: there are no connections.
    public func close() async {}

    /// Runs a call on the database off the caller's thread, and makes its errors a peer's.
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try Task.checkCancelled()
        do { return try await local.perform(body) } catch let error as DatabaseError {
            throw PeerError(error, of: name)
        }
    }
}

extension PeerSequence {
    /// A position in a local database's changes.
    init(local sequence: UpdateSequence) { self.init(.number(JSONNumber(sequence.number))) }
}

extension Task where Success == Never, Failure == Never {
    /// Throws ``PeerError/Code/cancelled`` if the task is cancelled.
    static func checkCancelled() throws {
        if isCancelled { throw PeerError(.cancelled, "the call was cancelled") }
    }
}
