package import SettleCore
internal import SettleCrypto
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
    /// The name in messages: the database's folder.
    public let name: String
    private let givenIdentity: String?

    /// Creates a peer for a database.
    ///
    /// - Parameters:
    ///   - database: The database.
    ///   - name: The name in messages; by default the database's folder, or `memory`.
    ///   - identity: Identifies the database in the ids of its replications. By default this is a random name that
    ///     was created with the database and moves with its file. If databases have stable names, as in a server,
    ///     pass those. A database that is deleted and created again then keeps its replications, and the change is
    ///     detected and reported (SEMANTICS 206).
    public init(_ database: Database, name: String? = nil, identity: String? = nil) {
        local = database
        self.name = name ?? database.path ?? "memory"
        givenIdentity = identity
    }

    /// The database itself.
    package var database: Database? { local }

    /// `true`.
    package var keepsForgottenVersions: Bool { true }

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
    /// Contents are streamed in bounded memory, resumed after an interruption, and verified against their digests.
    /// Content that a leaf of the same document already has is not fetched.
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
    ///   - branching: Whether the revisions may become branches.
    ///   - policy: The conflict policy.
    ///   - slots: Limits the number of conflicts for which the policy is called at the same time.
    ///   - onAsking: Called before the policy, with the number of documents for which it has been called, including
    ///     this time.
    ///   - source: Provides merge bases that the database lacks.
    /// - Returns: The outcome of each revision, in order, and of each document in conflict.
    /// - Throws: ``PeerError`` if an attachment can't be fetched; ``DatabaseError`` if the whole transaction fails.
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
            guard !revision.attachments.isEmpty else {
                batch.append(revision.with([]), from: index)
                continue
            }
            switch try await AttachmentReceiver(peer: self, revision: revision).receive() {
            case .taken(let attachments): batch.append(revision.with(attachments), from: index)
            case .not(let outcome): batch.refuse(index, outcome)
            }
        }
        return batch
    }
}

// MARK: - Revisions

extension LocalPeer {
    /// Attachments with up to this many stored bytes are returned with their revision; larger ones are streamed.
    static let largestInMemory: Int64 = 16 * 1024

    /// The content of revisions, all from one snapshot of the database; see ``Peer/revisions(_:budget:)``.
    package func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer] {
        try await perform { database in
            var answers: [RevisionAnswer] = []
            answers.reserveCapacity(requests.count)
            var rest = budget
            try database.forEachRevision(requests.map { ($0.id, $0.revision, $0.knownAncestors) }) { stored in
                let request = requests[answers.count]
                if case .failure(let error) = stored {
                    answers.append(.failed(PeerError(error, of: name)))
                    return answers.count < requests.count
                }
                guard let stored = try stored.get() else {
                    answers.append(.missing(reason: "the content of \(request.revision) is not kept at \(name)"))
                    return answers.count < requests.count
                }
                answers.append(try answer(request, stored))
                if case .found(let revision) = answers.last { rest -= revision.bytesInMemory }
                return rest > 0
            }
            return answers
        }
    }

    private func answer(_ request: RevisionRequest, _ stored: Database.StoredRevision) throws -> RevisionAnswer {
        do {
            let attachments = try stored.revision.attachments.map { attachment in
                PeerAttachment(
                    name: attachment.name, contentType: attachment.contentType, revpos: attachment.revpos,
                    digest: attachment.digest, length: attachment.length, encodedLength: attachment.encodedLength,
                    encoding: attachment.encoding,
                    content: stored.known?.contains(attachment) ?? false ? .stub : try content(of: attachment))
            }
            var revision = stored.revision.with(attachments)
            revision.isDeletionAtSource = request.isDeletionAtSource
            return .found(revision)
        } catch let error as DatabaseError where error.code == .attachmentMissing {
            return .failed(PeerError(error, of: name))
        }
    }

    private func content(of attachment: DocumentAttachment) throws -> PeerAttachment.Content {
        guard attachment.encodedLength <= Self.largestInMemory else {
            return .source(LocalAttachmentSource(peer: self, attachment: attachment))
        }
        return .bytes(try local.attachmentReader(for: attachment, encoded: true).readAll())
    }
}

// MARK: - RevisionBatch

/// Revisions that are ready to be stored, and those that can't be.
struct RevisionBatch: Sendable {
    /// The ready revisions, in order.
    private(set) var revisions: [ReplicatedRevision] = []
    private var places: [Int] = []
    private var known: [StoreOutcome?]

    init(count: Int) {
        known = [StoreOutcome?](repeating: nil, count: count)
        revisions.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    /// Adds a ready revision.
    mutating func append(_ revision: ReplicatedRevision, from index: Int) {
        revisions.append(revision)
        places.append(index)
    }

    /// Records that a revision can't be stored.
    mutating func refuse(_ index: Int, _ outcome: StoreOutcome) { known[index] = outcome }

    /// The outcomes of all revisions, given those of the ready ones.
    func outcomes(_ written: [ReplicatedRevision.Outcome], _ peer: LocalPeer) -> [StoreOutcome] {
        var outcomes = known
        for (place, outcome) in zip(places, written) {
            outcomes[place] =
                switch outcome {
                case .stored: .stored
                case .known: .known
                case .refused(let error) where error.code == .attachmentMissing:
                    .failed(PeerError(error, of: peer.name))
                case .refused(let error): .refused(PeerError(error, of: peer.name))
                }
        }
        return outcomes.compactMap(\.self)
    }
}

// MARK: - LocalAttachmentSource

/// Reads the stored bytes of a local database's attachment piece by piece. When they are read from the beginning,
/// they are compared with the digest, and the last piece is returned only if they match. After an interruption the
/// receiver compares them.
struct LocalAttachmentSource: AttachmentSource {
    let peer: LocalPeer
    let attachment: DocumentAttachment
    private static let pieceLength: Int64 = 256 * 1024

    func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {
        var offset = offset
        let (attachment, end) = (attachment, attachment.encodedLength)
        let hash = offset == 0 ? MD5() : nil
        while offset < end {
            let range = offset..<min(end, offset + Self.pieceLength)
            let piece = try await peer.perform { database in
                try database.attachmentReader(for: attachment, encoded: true, range: range).readAll()
            }
            hash?.update(piece)
            if range.upperBound == end, let hash, hash.finish() != attachment.digest.md5 {
                let damage = "the content of \"\(attachment.name)\" is damaged: its digest differs"
                throw PeerError(DatabaseError(.attachmentMissing, damage), of: peer.name)
            }
            try await body(piece)
            offset = range.upperBound
        }
    }
}
