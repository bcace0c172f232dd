public import RevisionTree
public import SettleDatabase

/// A database that takes part in a replication: one on this machine, or one behind CouchDB's HTTP API.
///
/// Everything that a replication does is one of these calls on its source or its target, so each pair of peers replicates
/// by the same rules: CouchDB's replication protocol, version 3. Push and pull are the same thing (SEMANTICS 91).
///
///     source                                      target
///     ──────                                      ──────
///     connect                                     connect
///     localDocument (log)                         localDocument (log)      the newest common checkpoint
///     changes ───────────────────────────────────→ differences             what is missing there
///     revisions ─────────────────────────────────→ store                   bodies, histories, attachments
///     saveLocalDocument (log)                     saveLocalDocument (log)  never ahead of what is stored
///
/// All calls may run at once, several of each. They throw ``PeerError``, whose ``PeerError/isTransient`` tells whether the
/// same call may succeed later. A call that is cancelled ends soon and leaves no half-written document.
public protocol Peer: Sendable {
    /// How messages name the peer: its path or its URL without credentials.
    var name: String { get }

    /// Whether the peer is a database of this process, which settles conflicts and keeps merge bases.
    var database: Database? { get }

    /// Whether the peer is reached over a network, so that a change of the network is of interest. No unless a peer says so.
    var needsNetwork: Bool { get }

    /// What of the peer enters a replication's id: the same for the same database whatever the spelling of its URL and
    /// the password (SEMANTICS 134).
    func identity() async throws -> String

    /// The code of a filter's function, or what stands for it; `nil` for a filter without one, and where it may not be read. A
    /// replication whose filter has another code than before begins anew. `nil` unless a peer says so.
    ///
    /// - Throws: ``PeerError`` when the peer can't be reached.
    func filterCode(_ filter: ReplicationFilter) async throws -> String?

    /// Reaches the peer and looks whether it is what it should be.
    ///
    /// - Throws: ``PeerError`` with code `notFound` where there is no such database, `unauthorized`, or `unreachable`.
    func connect() async throws -> PeerInfo

    /// Creates the database unless it is there.
    func create() async throws

    /// The next documents that were changed, in the order of their last changes, each once, with all their leaves.
    ///
    /// - Returns: A page. It is empty if nothing has changed, after waiting as long as the request says.
    func changes(_ request: ChangesRequest) async throws -> ChangesPage

    /// What the peer lacks of documents that were changed at the source: `_revs_diff`.
    ///
    /// A peer that keeps track of deletions also notes which tombstones it knows already are the source's own winners
    /// (SEMANTICS K2).
    ///
    /// - Returns: A row for each document of which something is missing, in the order given.
    func differences(from changes: [ChangedDocument]) async throws -> [RevisionsDiff]

    /// The content of revisions: `_bulk_get`.
    ///
    /// - Parameters:
    ///   - requests: Which ones; those of one document stand together.
    ///   - budget: How many bytes of bodies to fetch at the most. The first is fetched whatever its size; the call returns
    ///     fewer answers than requests when the budget is used up, and the caller asks again for the rest.
    /// - Returns: An answer for each request from the first on, in order.
    /// - Throws: ``PeerError`` when the call as a whole failed.
    func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer]

    /// Stores revisions with their histories: `_bulk_docs` with `new_edits=false`.
    ///
    /// All revisions of one document that are missing are in one call, since they are made into one tree at once.
    ///
    /// - Parameters:
    ///   - revisions: The revisions.
    ///   - branching: Whether a revision may become a branch beside the ones that are there.
    /// - Returns: For each revision, in order, what became of it; one that is refused does not stop the others.
    /// - Throws: ``PeerError`` when the call as a whole failed; some may be stored then, and storing them again changes
    ///   nothing (SEMANTICS 200).
    func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome]

    /// Notes that another peer holds revisions (see ``Database/markShared(_:)``); nothing for a peer that keeps no bases.
    func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws

    /// A local document; `nil` where there is none.
    func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument?

    /// Writes a local document.
    ///
    /// - Parameters:
    ///   - id: Its id, from `_local/` on.
    ///   - body: Its members.
    ///   - revision: The revision read before, `0-N`; `nil` if there was none.
    /// - Returns: The new revision.
    /// - Throws: ``PeerError`` with code `conflict` if it was written meanwhile; `forbidden` where it may not be written.
    func saveLocalDocument(_ id: DocumentID, body: JSON, revision: String?) async throws -> String

    /// Lets go of connections. Whoever made the peer calls it, once no replication needs it any more; replications do not, for
    /// several may share it.
    func close() async
}

extension Peer {
    /// No.
    public var needsNetwork: Bool { false }

    /// None.
    public func filterCode(_ filter: ReplicationFilter) async throws -> String? { nil }
}
