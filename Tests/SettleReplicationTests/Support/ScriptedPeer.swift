import Settle
import SettleDatabase
import SettlePlatform
import SettleReplication

/// A peer that passes on calls or fails them as scripted, and counts them.
final class ScriptedPeer: PeerOperations {
    /// The calls of a peer.
    enum Call: Hashable, Sendable { case connect, changes, differences, revisions, store, readLog, writeLog }

    /// The script of a peer.
    struct Script: Sendable {
        /// Errors for the next calls, of each kind.
        var failures: [Call: [PeerError]] = [:]
        /// Errors for all calls of a kind.
        var always: [Call: PeerError] = [:]
        /// Replaces the outcome of storing a revision.
        var onStore: @Sendable (PeerRevision) -> StoreOutcome? = { _ in nil }
        /// Awaited before each call of a kind that does not fail.
        var before: [Call: @Sendable () async throws -> Void] = [:]
        /// Replaces each answer.
        var onAnswer: @Sendable (RevisionRequest, RevisionAnswer) -> RevisionAnswer = { $1 }
        /// Replaces each page of changes.
        var onPage: @Sendable (ChangesRequest, ChangesPage) -> ChangesPage = { $1 }
        /// How often each call was made.
        var calls: [Call: Int] = [:]
    }

    let base: any PeerOperations
    let script = Guarded(Script())

    let needsNetwork: Bool

    init(_ base: any Peer, needsNetwork: Bool = false) {
        (self.base, self.needsNetwork) = (base.operations, needsNetwork)
    }

    var link: PeerLink { PeerLink(self) }

    var name: String { base.name }
    var database: Database? { base.database }
    func identity() async throws -> String { try await base.identity() }

    private func pass(_ call: Call) async throws {
        let (error, before) = script.withLock { script in
            script.calls[call, default: 0] += 1
            var error = script.always[call]
            if error == nil, script.failures[call]?.isEmpty == false { error = script.failures[call]?.removeFirst() }
            return (error, script.before[call])
        }
        if let error { throw error }
        try await before?()
    }

    func connect() async throws -> PeerInfo {
        try await pass(.connect)
        return try await base.connect()
    }

    func create() async throws { try await base.create() }

    func changes(_ request: ChangesRequest) async throws -> ChangesPage {
        try await pass(.changes)
        let page = try await base.changes(request)
        return script.withLock(\.onPage)(request, page)
    }

    func differences(from changes: [ChangedDocument]) async throws -> [RevisionsDiff] {
        try await pass(.differences)
        return try await base.differences(from: changes)
    }

    func revisions(_ requests: [RevisionRequest], budget: Int) async throws -> [RevisionAnswer] {
        try await pass(.revisions)
        let change = script.withLock(\.onAnswer)
        return zip(requests, try await base.revisions(requests, budget: budget)).map(change)
    }

    func store(_ revisions: [PeerRevision], branching: Branching) async throws -> [StoreOutcome] {
        try await pass(.store)
        let change = script.withLock(\.onStore)
        let given = revisions.map(change)
        var stored = try await base.store(zip(revisions, given).filter { $1 == nil }.map(\.0), branching: branching)[
            ...]
        return given.compactMap { $0 ?? stored.popFirst() }
    }

    func markShared(_ revisions: [(id: DocumentID, revision: RevisionID)]) async throws {
        try await base.markShared(revisions)
    }

    func localDocument(_ id: DocumentID) async throws -> PeerLocalDocument? {
        try await pass(.readLog)
        return try await base.localDocument(id)
    }

    func saveLocalDocument(_ id: DocumentID, body: JSONValue, revision: String?) async throws -> String {
        try await pass(.writeLog)
        return try await base.saveLocalDocument(id, body: body, revision: revision)
    }

    func close() async { await base.close() }
}

extension ScriptedPeer {
    /// Changes the script.
    func tell(_ change: (inout Script) -> Void) { script.withLock { change(&$0) } }

    /// How often a call was made.
    func count(_ call: Call) -> Int { script.withLock { $0.calls[call] ?? 0 } }
}
