internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Settles the conflicts of a pull's target by the configured policy, fetching missing merge bases from the source.
///
/// The bases are fetched even if the policy keeps all leaves: an app that settles later needs them.
struct ConflictSettler: Sendable {
    private let database: Database
    /// The policy, unless it keeps all leaves.
    private let policy: ConflictPolicy?
    private let source: any PeerOperations
    private let target: any PeerOperations
    /// Limit how many conflicts are settled at a time.
    private let slots: SettlingSlots
    /// What a server of Couchbase Mobile's protocol has said about conflicts that wait, so that it is asked once a page; see
    /// ``FormerStates/forget(_:)``. `nil` inside is an answer, too.
    private let asked = Guarded<[DocumentID: FormerState?]>([:])

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

    /// The search for existing conflicts; those that are kept need none.
    var sweep: ConflictSweep { ConflictSweep(policy?.kinds ?? []) }

    /// Finds existing conflicts.
    func find(_ place: ConflictSweep) async -> FlowExecutor.Event {
        var sweep = place
        guard let page = try? await sweep.next(in: database), !page.isEmpty else { return .swept([], next: nil) }
        await ask(about: page)
        return .swept(page, next: sweep)
    }

    /// Forgets what a server of Couchbase Mobile's protocol has replaced, and keeps what it says for ``settle(_:)``.
    private func ask(about ids: [DocumentID]) async {
        guard !ids.isEmpty, let states = FormerStates(of: source, at: target) else { return }
        let found = await states.forget(ids)
        asked.withLock { asked in for id in ids { asked[id] = .some(found[id]) } }
    }

    /// The documents in conflict among stored revisions.
    func conflicted(among revisions: [PeerRevision]) async -> [DocumentID] {
        let kinds = policy?.kinds ?? Set(ConflictKind.allCases)
        let found = try? await database.perform { database -> [DocumentID] in
            // Most databases have no conflicts, which an index shows quickly.
            if try ConflictSweep(kinds).isEmpty(in: database) { return [] }
            return try database.conflicted(among: Array(Set(revisions.map(\.id))), kinds)
        }
        await ask(about: found ?? [])
        return found ?? []
    }

    /// Settles the conflict of a document; `nil` if it stays.
    func settle(_ id: DocumentID) async -> Result<Settlement?, DatabaseError> {
        // One that is settled again has changed meanwhile.
        if asked.withLock({ $0[id] == nil }) { await ask(about: [id]) }
        let peer = asked.withLock { $0.removeValue(forKey: id) } ?? nil
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

// MARK: - ConflictQueue

/// The documents whose conflicts are pending, each once; several are settled concurrently.
struct ConflictQueue: Sendable {
    private var waiting = Queue<DocumentID>()
    private var isWaiting: Set<DocumentID> = []
    private var active: Set<DocumentID> = []
    private var reports: [DocumentID: DocumentReport] = [:]
    private let atOnce: Int
    /// Whether the search for existing conflicts is still running.
    private(set) var isSweeping = false
    /// The documents whose conflicts could not be settled while the search was running, which may find them again.
    private var failed: Set<DocumentID> = []

    init(atOnce: Int) { self.atOnce = max(1, atOnce) }

    /// The number of those that are waiting or being settled.
    var count: Int { waiting.count + active.count }

    /// Whether nothing is pending (SEMANTICS 39, 40).
    var isEmpty: Bool { count == 0 && !isSweeping }

    /// Whether a document is pending.
    func contains(_ id: DocumentID) -> Bool { isWaiting.contains(id) || active.contains(id) }

    /// Adds a document; one that is being settled is added again.
    mutating func add(_ id: DocumentID) {
        if isWaiting.insert(id).inserted { waiting.append(id) }
    }

    /// Begins the search for existing conflicts.
    mutating func beginSweep() { isSweeping = true }

    /// Adds the documents that the search found, and says whether it goes on. A conflict that failed since the search began has
    /// had its attempt.
    mutating func receive(_ found: [DocumentID], goesOn: Bool) {
        for id in found where !failed.contains(id) { add(id) }
        isSweeping = goesOn
        if !goesOn { failed = [] }
    }

    /// Remembers that a conflict could not be settled, as long as the search may find it.
    mutating func recordFailure(_ id: DocumentID) {
        if isSweeping { failed.insert(id) }
    }

    /// Keeps a document's report until its conflict is settled.
    mutating func keep(_ report: DocumentReport) { reports[report.id] = report }

    /// The next document to settle, unless the limit is reached.
    mutating func next() -> DocumentID? {
        guard active.count < atOnce, let id = waiting.popFirst() else { return nil }
        // It changed while it is being settled, so it is settled again afterwards.
        guard !active.contains(id) else {
            waiting.append(id)
            return nil
        }
        isWaiting.remove(id)
        active.insert(id)
        return id
    }

    /// Ends a document's turn; returns its report, unless the document must be settled again.
    mutating func finish(_ id: DocumentID) -> (report: DocumentReport?, isLast: Bool) {
        active.remove(id)
        return (reports.removeValue(forKey: id), !isWaiting.contains(id))
    }

    /// Removes all waiting documents.
    mutating func clear() {
        (waiting, isWaiting, isSweeping, failed) = (Queue(), [], false, [])
    }
}

// MARK: - Conflicts

/// Conflicts that a flow brings, and those that were here before.
extension FlowExecutor {
    /// Settles the next ones.
    mutating func settleNext(_ group: inout TaskGroup<Event>) {
        guard let settler else { return }
        while let id = conflicts.next() {
            let known = decided.removeValue(forKey: id)
            group.addTask {
                if let known { return .settled(id, known.map { Optional($0) }) }
                return .settled(id, await settler.settle(id))
            }
        }
        performDeferred(&group)
    }

    /// Takes conflicts that were here before (SEMANTICS 31, 32), and looks for more when these are nearly settled.
    mutating func receive(_ ids: [DocumentID], next: ConflictSweep?, _ group: inout TaskGroup<Event>) {
        conflicts.receive(ids, goesOn: next != nil)
        guard let settler, let next else { return }
        group.addTask { await settler.find(next) }
    }

    /// Takes what became of a conflict: one event, after it (SEMANTICS 33).
    mutating func settled(
        _ id: DocumentID, _ result: Result<Settlement?, DatabaseError>, _ group: inout TaskGroup<Event>
    ) {
        let (kept, isLast) = conflicts.finish(id)
        let report = kept ?? DocumentReport(id: id, revisions: [], isDeleted: false)
        switch result {
        case .success(let settlement):
            if settlement?.outcome == .settled { flow.counts.conflictsSettled += 1 }
            if settlement != nil { state.updateLedger { $0.clear(id, nil) } }
            // One that stays or had been settled by somebody else is no news, unless the document is.
            guard let settlement, settlement.outcome != .nothing else {
                if kept != nil { isLast ? send(report, .replicated) : conflicts.keep(report) }
                return
            }
            send(report, .settled(settlement))
        case .failure(let error):
            guard error.code != .closed else { return }
            flow.counts.conflictsFailed += 1
            conflicts.recordFailure(id)
            state.updateLedger { $0.record(id, nil, .conflicted, reason: error.message, status: nil) }
            send(report, .unsettled(error))
        }
    }
}
