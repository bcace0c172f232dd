package import SettleCore
package import SettleDatabase

/// The calls of a replication on its source and on its target.
///
/// Each step of a replication is one of these calls, so all pairs of peers replicate by the same rules: CouchDB's
/// replication protocol, version 3. Push and pull are the same operation (SEMANTICS 91).
///
///     source                                      target
///     ──────                                      ──────
///     connect                                     connect
///     localDocument (log)                         localDocument (log)      the newest common checkpoint
///     changes ───────────────────────────────────→ differences             what is missing there
///     reportMissing ←──────────────────────────────┘
///     revisions ─────────────────────────────────→ store                   bodies, histories, attachments
///     saveLocalDocument (log)                     saveLocalDocument (log)  never ahead of what is stored
///
/// Calls may run concurrently. They throw ``PeerError``; ``PeerError/isTransient`` says whether the same call may
/// succeed later. A cancelled call ends soon and leaves no half-written document.
package protocol PeerOperations: Peer {
    /// The database, if the peer is a database of this process, which settles conflicts and keeps merge bases.
    var database: Database? { get }

    /// Whether calls use a network, so that network changes matter; `false` by default.
    var needsNetwork: Bool { get }

    /// Whether the peer is a Settle database, which may know revisions that are in no leaf's history; see
    /// ``SupersededLeaves``. It is `false` by default, and until a server has said in ``Peer/connect()`` what it is.
    var keepsForgottenVersions: Bool { get }

    /// A warning for the owner of the database, for example about credentials that are sent unencrypted. Replications report it when
    /// they start. It is `nil` by default.
    var warning: String? { get }

    /// Identifies the peer in the ids of replications: the same for the same database, whatever the spelling of its
    /// URL and the password (SEMANTICS 134).
    func identity() async throws -> String

    /// The code of a filter function, or a substitute for it; `nil` for a filter without a function, or if the code
    /// may not be read. If the code changes, the replication starts from the beginning. `nil` by default.
    ///
    /// - Throws: ``PeerError`` if the peer can't be reached.
    func filterCode(_ filter: ReplicationFilter) async throws -> String?

    /// The next changed documents, ordered by their last changes. Each document occurs once, with all its leaves.
    ///
    /// - Returns: A page. It is empty if nothing changed during the wait that the request allows.
    func changes(_ request: ChangesRequest) async throws -> ChangesPage

    /// The revisions that the peer lacks of documents that changed at the source: `_revs_diff`.
    ///
    /// A peer that tracks deletions also records which of the tombstones that it already has are winners at the
    /// source (SEMANTICS K2).
    ///
    /// - Returns: A row for each document with missing revisions, in the given order.
    func differences(from changes: [ChangedDocument]) async throws -> [RevisionsDiff]

    /// Reports to the source the revisions that the target lacks. The replication calls it before ``revisions(_:budget:)``.
    ///
    /// A server of Couchbase Mobile proposes revisions and sends the requested ones, so its peer passes the list
    /// on. By default this does nothing.
    ///
    /// - Parameters:
    ///   - missing: A row for each document with missing revisions.
    ///   - changes: The changes that were compared.
    func reportMissing(_ missing: [RevisionsDiff], of changes: [ChangedDocument]) async

    /// The content of revisions: `_bulk_get`.
    ///
    /// - Parameters:
    ///   - requests: The revisions; those of one document are adjacent.
    ///   - budget: The maximum number of bytes of bodies. The first revision is fetched whatever its size. If the
    ///     budget is used up, the call returns fewer answers than requests, and the caller requests the rest again.
    /// - Returns: Answers in request order, starting with the first request.
    /// - Throws: ``PeerError`` if the call as a whole failed.
    func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer]

    /// Stores revisions with their histories: `_bulk_docs` with `new_edits=false`.
    ///
    /// All missing revisions of one document are in the same call, because they are merged into one tree together.
    ///
    /// - Parameters:
    ///   - revisions: The revisions.
    ///   - branching: Whether a revision may become a branch beside existing ones.
    /// - Returns: The outcome of each revision, in order. A refused revision does not affect the rest.
    /// - Throws: ``PeerError`` if the call as a whole failed. Some revisions may then be stored; storing them again
    ///   has no effect (SEMANTICS 200).
    func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome]

    /// Records that another peer has revisions; does nothing if the peer keeps no merge bases.
    func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws

    /// Reads a local document; `nil` if the peer has no document with this id.
    func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument?

    /// Writes a local document.
    ///
    /// - Parameters:
    ///   - id: Its id, including `_local/`.
    ///   - body: Its members.
    ///   - revision: The revision that was read, `0-N`; `nil` if there was none.
    /// - Returns: The new revision.
    /// - Throws: ``PeerError`` with code `conflict` if it was written meanwhile; `forbidden` if writing is not allowed.
    func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String
}

extension PeerOperations {
    /// `false` by default.
    package var needsNetwork: Bool { false }

    /// `false` by default.
    package var keepsForgottenVersions: Bool { false }

    /// `nil` by default.
    package var warning: String? { nil }

    /// Does nothing.
    package func reportMissing(_ missing: [RevisionsDiff], of changes: [ChangedDocument]) async {}

    /// `nil` by default.
    package func filterCode(_ filter: ReplicationFilter) async throws -> String? { nil }
}

/// A local document of a peer, in which replications keep their checkpoints.
package struct PeerLocalDocument: Sendable, Hashable {
    /// Its revision, `0-N`.
    package var revision: String
    /// Its members without the reserved ones.
    package var body: JSONValue

    /// Creates a local document.
    package init(revision: String, body: JSONValue) {
        self.revision = revision
        self.body = body
    }
}

// MARK: - StoreOutcome

/// The outcome of storing a revision at its target.
package enum StoreOutcome: Sendable {
    /// It is stored. A peer that can't tell reports this for a known revision too.
    case stored
    /// The target already had it.
    case known
    /// The target refuses it; the error says why and what to do. Retrying it unchanged does not help (SEMANTICS 205).
    case refused(PeerError)
    /// It could not be stored at the moment, although others could; a retry may succeed.
    case failed(PeerError)
}

// MARK: - Branching

/// Whether a replication may create branches at its target.
public enum Branching: Sendable, Hashable {
    /// As in CouchDB: concurrent edits become branches, and nothing is lost.
    case allowed
    /// Revisions of a document that don't descend from the target's winner, or that would leave several live
    /// leaves, are refused together with ``PeerError/Code/conflict``. For hubs whose clients settle conflicts
    /// before they push.
    case refused
}
