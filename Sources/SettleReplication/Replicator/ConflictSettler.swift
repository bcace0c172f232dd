internal import SettleCore
internal import SettleDatabase

/// Settles the conflicts of a pull's target by the configured policy, fetching missing merge bases from the source.
///
/// The bases are fetched even if the policy keeps all leaves: an app that settles later needs them.
struct ConflictSettler: Sendable {
    /// The progress of the search for existing conflicts.
    struct Place: Sendable {
        var kinds: [ConflictKind]
        var after: DocumentID?
    }

    private let database: Database
    /// The policy, unless it keeps all leaves.
    private let policy: ConflictPolicy?
    private let source: any PeerOperations
    private let target: any PeerOperations
    /// Limit how many conflicts are settled at a time.
    private let slots: SettlingSlots
    private static let pageLength = 200

    /// Creates a settler if there is work for it: in a pull into a database of this process.
    init?(_ configuration: ReplicationConfiguration) {
        guard configuration.direction == .pull, let database = configuration.target.operations.database else {
            return nil
        }
        self.database = database
        policy = configuration.settlesConflicts ? configuration.conflictPolicy : nil
        source = configuration.source.operations
        target = configuration.target.operations
        slots = SettlingSlots(configuration.conflictsAtOnce)
    }

    /// Where the search starts; conflicts that are kept need no search.
    var start: Place { Place(kinds: ConflictKind.allCases.filter { policy?.kinds.contains($0) ?? false }) }

    /// Finds existing conflicts.
    func sweep(from place: Place) async -> FlowExecutor.Event {
        guard let kind = place.kinds.first else { return .swept([], next: nil) }
        let page = try? await database.perform {
            try $0.conflictedDocumentIDs(kind, after: place.after, limit: Self.pageLength)
        }
        guard let page else { return .swept([], next: nil) }
        var next = place
        if let last = page.last { next.after = last } else { next = Place(kinds: Array(place.kinds.dropFirst())) }
        return .swept(page, next: next.kinds.isEmpty ? nil : next)
    }

    /// The documents in conflict among stored revisions.
    func conflicted(among revisions: [PeerRevision]) async -> [DocumentID] {
        let kinds = policy?.kinds ?? Set(ConflictKind.allCases)
        let found = try? await database.perform { database -> [DocumentID] in
            // Most databases have no conflicts, which an index shows quickly.
            guard try kinds.contains(where: { try !database.conflictedDocumentIDs($0, limit: 1).isEmpty }) else {
                return []
            }
            return try database.conflicted(among: Array(Set(revisions.map(\.id))), kinds)
        }
        return found ?? []
    }

    /// Settles the conflict of a document; `nil` if it stays.
    func settle(_ id: DocumentID) async -> Result<Settlement?, DatabaseError> {
        let peer = await FormerStates(of: source, at: target)?.forget(id)
        if peer == nil { await bringBases(of: id) }
        guard let policy else { return .success(nil) }
        do {
            return .success(try await slots.using { try await database.settle(id, asking: policy, beside: peer) })
        } catch let error as DatabaseError {
            return .failure(error)
        } catch { return .failure(DatabaseError(.closed, "the conflict of \"\(id)\" was not settled", cause: error)) }
    }

    /// Fetches the merge bases that the source has. Without them the policy may leave the conflict to a peer that has
    /// them; a base is never guessed.
    private func bringBases(of id: DocumentID) async {
        guard let missing = try? await database.perform({ try $0.missingBases(of: id) }), !missing.isEmpty else {
            return
        }
        _ = try? await target.store(await source.bases(missing, of: id), branching: .allowed)
    }

    /// Stores revisions. Settles their conflicts in the same transaction if the target is a database of this process
    /// and the policy decides without waiting. Before the policy is called, `onAsking` gets the number of documents that it was or
    /// is called about.
    func store(
        _ revisions: [PeerRevision], branching: Branching, onAsking: @Sendable (Int) -> Void
    ) async throws -> (outcomes: [StoreOutcome], settlements: [DocumentID: Result<Settlement, DatabaseError>]) {
        guard let policy, policy.answersAtOnce, let here = target as? LocalPeer else {
            return (try await target.store(revisions, branching: branching), [:])
        }
        return try await here.store(
            revisions, branching: branching, settlingBy: policy, slots: slots, onAsking: onAsking,
            basesFrom: source)
    }
}

extension PeerOperations {
    /// The merge bases that are here.
    func bases(_ revisions: [RevisionID], of id: DocumentID) async -> [PeerRevision] {
        var requests = revisions.map { RevisionRequest(id: id, revision: $0) }
        var found: [PeerRevision] = []
        while !requests.isEmpty {
            let answers = try? await self.revisions(requests, budget: 1024 * 1024)
            guard let answers, !answers.isEmpty else { break }
            found += answers.compactMap { if case .found(let revision) = $0 { revision } else { nil } }
            requests.removeFirst(min(answers.count, requests.count))
        }
        return found
    }
}

extension ReplicationConfiguration {
    /// Whether the replication settles conflicts.
    var settlesConflicts: Bool {
        direction == .pull && target.operations.database != nil && conflictPolicy.name != ConflictPolicy.keepAll.name
    }
}
