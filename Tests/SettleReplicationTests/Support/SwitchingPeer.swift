import Settle
import SettleDatabase
import SettlePlatform
import SettleReplication

/// A peer whose database is replaced during a replication, like a server that is restored.
final class SwitchingPeer: PeerOperations {
    private let state: Guarded<LocalPeer>

    init(_ peer: LocalPeer) { state = Guarded(peer) }

    /// Replaces the database from now on.
    func use(_ peer: LocalPeer) {
        state.withLock { $0 = peer }
    }

    private var now: LocalPeer { state.withLock(\.self) }
    var name: String { now.name }
    var database: Database? { nil }
    func identity() async throws -> String { try await now.identity() }
    func connect() async throws -> PeerInfo { try await now.connect() }
    func create() async throws {}

    func changes(_ request: ChangesRequest) async throws -> ChangesPage {
        // A waiting call loses its connection with the database, and is repeated.
        let peer = now
        do {
            let page = try await peer.changes(request)
            if now.database === peer.database { return page }
        } catch let error as PeerError where error.code == .database {}
        return try await now.changes(request)
    }

    func differences(from changes: [ChangedDocument]) async throws -> [RevisionsDiff] {
        try await now.differences(from: changes)
    }

    func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer] {
        try await now.revisions(requests, budget: budget)
    }

    func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome] {
        try await now.store(revisions, branching: branching)
    }

    func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws {}

    func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? { try await now.localDocument(id) }

    func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String {
        try await now.saveLocalDocument(id, body: body, revision: revision)
    }

    func close() async {}

    var link: PeerLink { PeerLink(self) }
}
