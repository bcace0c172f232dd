internal import RevisionTree
internal import SettleDatabase

/// Settles the conflicts of a pull's target by the configured policy, with bases from the source where they are missing.
///
/// Where the policy is to keep all, the bases are brought all the same: an app that settles later needs them.
struct ConflictSettler: Sendable {
    /// How far the search for conflicts that were here before has come.
    struct Place: Sendable {
        var kinds: [ConflictKind]
        var after: DocumentID?
    }

    private let database: Database
    /// The policy, unless it is to keep all.
    private let policy: ConflictPolicy?
    private let source: any Peer
    private let target: any Peer
    private static let pageLength = 200

    /// Makes one where there is something for it to do: in a pull into a database of this process.
    init?(_ configuration: ReplicationConfiguration) {
        guard configuration.direction == .pull, let database = configuration.target.database else { return nil }
        self.database = database
        policy = configuration.settlesConflicts ? configuration.conflictPolicy : nil
        source = configuration.source
        target = configuration.target
    }

    /// Where the search begins; conflicts that stay as they are need none.
    var start: Place { Place(kinds: ConflictKind.allCases.filter { policy?.kinds.contains($0) ?? false }) }

    /// Finds conflicts that were here before.
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

    /// Which documents of revisions that were stored are in conflict.
    func conflicted(among revisions: [PeerRevision]) async -> [DocumentID] {
        let kinds = policy?.kinds ?? Set(ConflictKind.allCases)
        let found = try? await database.perform { database -> [DocumentID] in
            // Most databases have none at all, and an index tells.
            guard try kinds.contains(where: { try !database.conflictedDocumentIDs($0, limit: 1).isEmpty }) else {
                return []
            }
            return try database.conflicted(among: Array(Set(revisions.map(\.id))), kinds)
        }
        return found ?? []
    }

    /// Settles the conflict of a document; `nil` where it stays as it is.
    func settle(_ id: DocumentID) async -> Result<Settlement?, DatabaseError> {
        await bringBases(of: id)
        guard let policy else { return .success(nil) }
        do { return .success(try await database.settle(id, asking: policy)) } catch let error as DatabaseError {
            return .failure(error)
        } catch { return .failure(DatabaseError(.closed, "the conflict of \"\(id)\" was not settled", cause: error)) }
    }

    /// Brings the revisions in which branches part, as far as the source has them. Without them the policy may leave the
    /// conflict to a peer that does; a base is never guessed.
    private func bringBases(of id: DocumentID) async {
        guard let missing = try? await database.perform({ try $0.missingBases(of: id) }), !missing.isEmpty else {
            return
        }
        _ = try? await target.store(await source.bases(missing, of: id), branching: .allowed)
    }

    /// Stores revisions, with what settles their conflicts in the same transaction where that can be: the target is a
    /// database of this process, and the policy decides without waiting.
    func store(
        _ revisions: [PeerRevision], branching: Branching
    ) async throws -> (outcomes: [StoreOutcome], settlements: [DocumentID: Result<Settlement, DatabaseError>]) {
        guard let policy, policy.answersAtOnce, let here = target as? LocalPeer else {
            return (try await target.store(revisions, branching: branching), [:])
        }
        return try await here.store(revisions, branching: branching, settlingBy: policy, basesFrom: source)
    }
}

extension Peer {
    /// Revisions in which branches part, as far as they are here.
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
    /// Whether conflicts are settled.
    var settlesConflicts: Bool {
        direction == .pull && target.database != nil && conflictPolicy.name != ConflictPolicy.keepAll.name
    }
}
