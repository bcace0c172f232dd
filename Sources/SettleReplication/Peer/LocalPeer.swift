package import SettleCore
public import SettleDatabase

/// A database of this process as one side of a replication.
///
///     let copy = LocalPeer(try Database.openOrCreate("copy.settle"))
///     try await OneWayReplicator(.push(database, to: copy)).run()
///
/// Every call runs on another thread than the caller's, and handles many documents at a time.
public struct LocalPeer: Peer, PeerOperations {
    /// The database of the call.
    let local: Database
    /// How messages name it: its folder.
    public let name: String
    private let givenIdentity: String?

    /// Creates a peer for a database.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - name: How messages name it; its folder, or `memory`, unless given.
    ///   - identity: The part of its replications' ids that stands for the database; unless given, a name that was
    ///     created with the database and moves with its file. If databases have stable names, as on a server, pass
    ///     those: then a database that was deleted and created again keeps its replications, and the change is detected
    ///     and reported (SEMANTICS 206).
    public init(_ database: Database, name: String? = nil, identity: String? = nil) {
        local = database
        self.name = name ?? database.path ?? "memory"
        givenIdentity = identity
    }

    /// The database itself.
    package var database: Database? { local }

    /// The given identity, or the name that was created with the database.
    package func identity() async throws -> String {
        if let givenIdentity { return "local:\(givenIdentity)" }
        return try await perform { "local:\(try $0.instanceName())" }
    }

    /// The version of a registered function; `nil` for version 1.
    package func filterCode(_ filter: ReplicationFilter) async throws -> String? {
        guard case .named(let name, _) = filter, let version = local.replicationFilter(name)?.version, version != 1
        else { return nil }
        return "version \(version)"
    }

    /// Reads the database's update sequence.
    public func connect() async throws -> PeerInfo {
        try await perform { database in
            PeerInfo(
                product: "Settle", instance: try database.instanceName(),
                lastSequence: PeerSequence(local: try database.lastSequence()))
        }
    }

    /// Does nothing: the database exists.
    public func create() async throws {}

    /// Records that another peer has revisions.
    package func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws {
        try await perform { try $0.markShared(revisions) }
    }

    /// How a replication reaches the peer.
    public var link: PeerLink { PeerLink(self) }

    /// Does nothing: there are no connections.
    public func close() async {}

    /// Runs a call on the database off the caller's thread, and maps its errors to ``PeerError``.
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

extension LocalPeer {
    /// A local document; see ``Peer/localDocument(_:)``.
    package func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? {
        try await perform { database in
            try database.localDocument(id).map { PeerLocalDocument(revision: $0.revision, body: $0.body.json) }
        }
    }

    /// Writes a local document; see ``Peer/saveLocalDocument(_:body:revision:)``.
    package func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String {
        try await perform { database in
            let members: DocumentBody
            do { members = try DocumentBody(body) } catch let error as JSONError {
                throw DatabaseError(.invalid, "the body of \"\(id)\" can't be stored: \(error.message)", cause: error)
            }
            return try database.saveLocalDocument(id, body: members, expecting: revision).revision
        }
    }
}

extension LocalPeer {
    /// Stores revisions in one transaction, after the contents of their attachments; see ``Peer/store(_:branching:)``.
    ///
    /// Contents are streamed in bounded memory, resumed after a cut, and verified against their digests. Content that a
    /// leaf of the same document has here is not read.
    package func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome] {
        let prepared = try await prepare(revisions)
        let (batch, refuses) = (prepared.revisions, branching == .refused)
        guard !batch.isEmpty else { return prepared.outcomes([], self) }
        return prepared.outcomes(try await perform { try $0.insertReplicated(batch, refusingBranches: refuses) }, self)
    }

    /// Stores revisions like ``store(_:branching:)``, and settles the conflicts they cause in the same transaction.
    ///
    /// - Parameters:
    ///   - revisions: The revisions.
    ///   - branching: Whether they may become branches.
    ///   - policy: The conflict policy.
    ///   - slots: Limit how many conflicts the policy is called about at a time.
    ///   - onAsking: Called before the policy is, with the number of documents it was or is called about.
    ///   - source: Where merge bases that are missing here are fetched.
    /// - Returns: The outcome of each revision, in order, and of each document in conflict.
    /// - Throws: ``PeerError`` for attachments that can't be fetched; ``DatabaseError`` if the transaction as a whole
    ///   fails.
    func store(
        _ revisions: [PeerRevision], branching: Branching, settlingBy policy: ConflictPolicy, slots: SettlingSlots,
        onAsking: @Sendable (Int) -> Void, basesFrom source: any PeerOperations
    ) async throws -> (outcomes: [StoreOutcome], settlements: [DocumentID: Result<Settlement, DatabaseError>]) {
        let prepared = try await prepare(revisions)
        guard !prepared.revisions.isEmpty else { return (prepared.outcomes([], self), [:]) }
        let stored = try await local.insertReplicated(
            prepared.revisions, refusingBranches: branching == .refused, settlingBy: policy, slots: slots,
            onAsking: onAsking
        ) { id, missing in
            let found = await source.bases(missing, of: id)
            return (try? await self.prepare(found))?.revisions ?? []
        }
        return (prepared.outcomes(stored.outcomes, self), stored.settlements)
    }

    /// Stores the contents of attachments, one revision after the other.
    private func prepare(_ revisions: [PeerRevision]) async throws -> RevisionBatch {
        var batch = RevisionBatch(count: revisions.count)
        for (index, revision) in revisions.enumerated() {
            var stored = ReplicatedRevision(
                id: revision.id, history: revision.history, isDeleted: revision.isDeleted, body: revision.body)
            stored.isDeletionAtSource = revision.isDeletionAtSource
            (stored.replaced, stored.formerState) = (revision.replaced, revision.formerState)
            if !revision.attachments.isEmpty {
                switch try await AttachmentReceiver(peer: self, revision: revision).take() {
                case .taken(let attachments): stored.attachments = attachments
                case .not(let outcome):
                    batch.refuse(index, outcome)
                    continue
                }
            }
            batch.take(stored, from: index)
        }
        return batch
    }
}
