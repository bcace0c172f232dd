internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Settles the conflicts of a pull's target by the configured policy, and fetches missing merge bases from the
/// source.
///
/// The bases are fetched even if the policy keeps all leaves: an app that settles later needs them.
struct ConflictSettler: Sendable {
    private let database: Database
    /// The policy; `nil` if it keeps all leaves.
    private let policy: ConflictPolicy?
    private let source: any PeerOperations
    private let target: any PeerOperations
    /// Limits the number of conflicts that are settled at the same time.
    private let slots: SettlingSlots
    /// The answers of a server of Couchbase Mobile's protocol about waiting conflicts, so that it is asked once per
    /// page; see ``FormerStates/forget(_:)``. An inner `nil` is an answer too.
    private let asked = Guarded<[DocumentID: FormerState?]>([:])
    /// Whether the run is about to end. Then nothing waits for a suspended database.
    private let isEnding: @Sendable () -> Bool

    /// Creates a settler if the replication is a pull into a database of this process; otherwise there is nothing
    /// to settle.
    init?(_ configuration: ReplicationConfiguration, isEnding: @escaping @Sendable () -> Bool) {
        guard configuration.direction == .pull, let database = configuration.target.operations.database else {
            return nil
        }
        self.database = database
        policy = configuration.settlesConflicts ? configuration.conflictPolicy : nil
        source = configuration.source.operations
        target = configuration.target.operations
        slots = SettlingSlots(configuration.conflictsAtOnce)
        self.isEnding = isEnding
    }

    /// The search for existing conflicts. It skips the kinds that the policy keeps.
    var sweep: ConflictSweep { ConflictSweep(policy?.kinds ?? []) }

    /// Finds existing conflicts.
    func find(_ place: ConflictSweep) async -> FlowExecutor.Event {
        let result = await patiently {
            var sweep = place
            let page = try await sweep.next(in: database)
            return (page, sweep)
        }
        switch result {
        case .success((let page, let next)):
            guard !page.isEmpty else { return .swept([], next: nil) }
            await ask(about: page)
            return .swept(page, next: next)
        case .failure(let error): return .sweepFailed(error)
        }
    }

    /// Calls a closure, and again when a suspended database works again, unless the run is to end.
    private func patiently<Value: Sendable>(
        _ body: () async throws -> Value
    ) async -> Result<Value, DatabaseError> {
        while true {
            do { return .success(try await body()) } catch let error as DatabaseError {
                guard !isEnding(), (try? await database.waitsOut(error)) == true else { return .failure(error) }
            } catch { return .failure(DatabaseError(.closed, "the work on conflicts has failed", cause: error)) }
        }
    }

    /// Removes the leaves that a server of Couchbase Mobile's protocol has replaced, and keeps its answers for
    /// ``settle(_:)``.
    private func ask(about ids: [DocumentID]) async {
        guard !ids.isEmpty, let states = FormerStates(of: source, at: target) else { return }
        let found = await states.forget(ids)
        asked.withLock { asked in for id in ids { asked[id] = .some(found[id]) } }
    }

    /// The documents in conflict among the stored revisions; `nil` if they can't be found out.
    func conflicted(among revisions: [PeerRevision]) async -> [DocumentID]? {
        let kinds = policy?.kinds ?? Set(ConflictKind.allCases)
        let result = await patiently {
            try await database.perform { database -> [DocumentID] in
                // Most databases have no conflicts, which an index tells quickly.
                if try ConflictSweep(kinds).isEmpty(in: database) { return [] }
                return try database.conflicted(among: Array(Set(revisions.map(\.id))), kinds)
            }
        }
        guard case .success(let found) = result else { return nil }
        await ask(about: found)
        return found
    }

    /// Settles the conflict of a document; `nil` if the policy keeps it.
    func settle(_ id: DocumentID) async -> Result<Settlement?, DatabaseError> {
        // A document that is settled again has changed since the last answer.
        if asked.withLock({ $0[id] == nil }) { await ask(about: [id]) }
        let peer = asked.withLock { $0.removeValue(forKey: id) } ?? nil
        return await patiently {
            if peer == nil { try await bringBases(of: id) }
            guard let policy else { return nil }
            return try await slots.using { try await database.settle(id, asking: policy, beside: peer) }
        }
    }

    /// Fetches the merge bases that the source has. If it lacks one, the policy may leave the conflict to a peer
    /// that has it; a base is never guessed.
    ///
    /// - Throws: ``DatabaseError`` if the database is suspended or in use.
    private func bringBases(of id: DocumentID) async throws {
        let missing: [RevisionID]
        do { missing = try await database.perform { try $0.missingBases(of: id) } } catch let error as DatabaseError
            where error.isPassing
        { throw error } catch { return }
        guard !missing.isEmpty else { return }
        _ = try? await target.store(await source.bases(missing, of: id), branching: .allowed)
    }

    /// Stores revisions. If the target is a database of this process and the policy decides without waiting, their
    /// conflicts are settled in the same transaction. Before the policy is called, `onAsking` gets the number of
    /// documents for which it has been called, including this time.
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
    /// The merge bases that the target has.
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

/// The documents with pending conflicts. Each document occurs once, and several are settled concurrently.
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
    /// The documents of each running store, and those of them that the search has found meanwhile.
    private var stores: [Int: (ids: Set<DocumentID>, found: [DocumentID])] = [:]

    init(atOnce: Int) { self.atOnce = max(1, atOnce) }

    /// The number of documents that wait or are being settled.
    var count: Int { waiting.count + active.count }

    /// Whether nothing is pending (SEMANTICS 39, 40).
    var isEmpty: Bool { count == 0 && !isSweeping }

    /// Whether a document is pending.
    func contains(_ id: DocumentID) -> Bool { isWaiting.contains(id) || active.contains(id) }

    /// Adds a document. A document that is being settled is queued again.
    mutating func add(_ id: DocumentID) {
        if isWaiting.insert(id).inserted { waiting.append(id) }
    }

    /// Begins the search for existing conflicts.
    mutating func beginSweep() { isSweeping = true }

    /// Adds the documents that the search found; `goesOn` says whether the search continues.
    ///
    /// A conflict that is being settled or has failed since the start of the search is not tried again. One whose
    /// document is being stored waits for the end of the store, which may have tried to settle it:
    ///
    ///     store   ── commit, "a" is not settled ────────────────── endStore("a")
    ///     search                          ── finds "a" ── receive("a")
    mutating func receive(_ found: [DocumentID], goesOn: Bool) {
        for id in found where !failed.contains(id) && !active.contains(id) {
            if let store = stores.first(where: { $0.value.ids.contains(id) })?.key {
                stores[store]?.found.append(id)
            } else {
                add(id)
            }
        }
        isSweeping = goesOn
        if !goesOn { failed = [] }
    }

    /// Begins a store of documents.
    mutating func beginStore(_ number: Int, of ids: some Sequence<DocumentID>) {
        if isSweeping { stores[number] = (Set(ids), []) }
    }

    /// Ends a store, and adds the documents that are in conflict after it; `nil` if they are not known, for example
    /// because the store has failed. Then those that the search has found are added.
    mutating func endStore(_ number: Int, conflicted: [DocumentID]?) {
        let found = stores.removeValue(forKey: number)?.found ?? []
        for id in conflicted ?? found { add(id) }
    }

    /// Records that a conflict could not be settled, while the search may still find it.
    mutating func recordFailure(_ id: DocumentID) {
        if isSweeping { failed.insert(id) }
    }

    /// Keeps a document's report until its conflict is settled.
    mutating func keep(_ report: DocumentReport) { reports[report.id] = report }

    /// The next document to settle, unless the limit is reached.
    mutating func next() -> DocumentID? {
        guard active.count < atOnce, let id = waiting.popFirst() else { return nil }
        // The document has changed while it is being settled, so it is settled again afterwards.
        guard !active.contains(id) else {
            waiting.append(id)
            return nil
        }
        isWaiting.remove(id)
        active.insert(id)
        return id
    }

    /// Ends the settling of a document; returns its report, unless the document must be settled again.
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

/// Conflicts that a flow causes, and those that existed before.
extension FlowExecutor {
    /// Settles the next conflicts.
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

    /// Handles existing conflicts that were found (SEMANTICS 31, 32), and searches for more when these are nearly
    /// settled.
    mutating func receive(_ ids: [DocumentID], next: ConflictSweep?, _ group: inout TaskGroup<Event>) {
        conflicts.receive(ids, goesOn: next != nil)
        guard let settler, let next else { return }
        group.addTask { await settler.find(next) }
    }

    /// Ends the search for existing conflicts after an error, and reports the error unless the run ends anyway.
    mutating func endSweep(_ error: DatabaseError) {
        conflicts.receive([], goesOn: false)
        guard error.code != .closed, !error.isPassing else { return }
        state.warn(
            .conflictSearchFailed,
            "the search for existing conflicts has failed, and the next start searches again: \(error)")
    }

    /// Handles the outcome of a conflict: sends one event, after the outcome is stored (SEMANTICS 33).
    mutating func settled(
        _ id: DocumentID, _ result: Result<Settlement?, DatabaseError>, _ group: inout TaskGroup<Event>
    ) {
        let (kept, isLast) = conflicts.finish(id)
        let report = kept ?? DocumentReport(id: id, revisions: [], isDeleted: false)
        switch result {
        case .success(let settlement):
            if settlement?.outcome == .settled { flow.counts.conflictsSettled += 1 }
            if settlement != nil { state.updateLedger { $0.clear(id, nil) } }
            // No event for a conflict that stays, or that was settled elsewhere, unless its document was
            // replicated.
            guard let settlement, settlement.outcome != .nothing else {
                if kept != nil { isLast ? send(report, .replicated) : conflicts.keep(report) }
                return
            }
            send(report, .settled(settlement))
        case .failure(let error) where error.isPassing:
            // The run ends before the database works again, and the next one settles the conflict.
            if kept != nil { send(report, .unsettled(error)) }
        case .failure(let error):
            guard error.code != .closed else { return }
            flow.counts.conflictsFailed += 1
            conflicts.recordFailure(id)
            state.updateLedger { $0.record(id, nil, .conflicted, reason: error.message, status: nil) }
            send(report, .unsettled(error))
        }
    }
}
