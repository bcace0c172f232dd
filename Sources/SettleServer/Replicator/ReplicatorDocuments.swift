internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleReplication

/// Keeps the jobs that documents of `_replicator`, and of databases whose names end in `/_replicator`, ask for.
///
///     change of a document ──▶ deleted, completed or failed: its job is stopped
///                              what it asks for is as it was: nothing, it was our own note, or somebody's comment
///                              else: its job is stopped, and another one begins
///     a job is completed  ──▶ a note in the document, so that it does not begin again at the next start
///
/// All of it happens on one thread, which begins to look when something is committed.
final class ReplicatorDocuments: Sendable {
    private struct Entry {
        /// The members that say what is to be done.
        let order: JSONObject
        /// Tells whether an answer is about this entry or an earlier one.
        let number: Int
        let updated = WallTime.now()
        var job: ReplicationJob?
        /// Why there is no job.
        var problem: String?
    }

    private struct State {
        var databases: [String: Database] = [:]
        var seen: [String: UpdateSequence] = [:]
        var entries: [ReplicationJob.Origin: Entry] = [:]
        var count = 0
        var isStopped = false
    }

    private let scheduler: ReplicationScheduler
    private let isAdmin: @Sendable (String) -> Bool
    private let log: ServerLog?
    private let thread = WorkerPool(limit: 1)
    private let state = Guarded(State())

    /// - Parameters:
    ///   - scheduler: What runs the jobs.
    ///   - isAdmin: Whether somebody is an administrator of the server.
    ///   - log: Where problems are told.
    init(_ scheduler: ReplicationScheduler, isAdmin: @escaping @Sendable (String) -> Bool, log: ServerLog?) {
        (self.scheduler, self.isAdmin, self.log) = (scheduler, isAdmin, log)
        scheduler.state.update { state in
            state.onCompletion = { [weak self] job, _, seen in
                guard let self, job.origin != nil else { return }
                thread.submit { self.complete(job, seen) }
            }
            state.onRemoval = { [weak self] id in self?.retryDuplicates(of: id) }
        }
    }

    /// Whether a database's documents are replications.
    static func isReplicator(_ name: String) -> Bool { name == "_replicator" || name.hasSuffix("/_replicator") }

    /// Begins to look at a database, unless it is looked at already or is no replicator's.
    func watch(_ name: String, _ database: Database) {
        guard Self.isReplicator(name) else { return }
        state.withLock { $0.databases[name] = database }
        thread.submit { [weak self] in self?.look(name, database) }
    }

    /// Looks no more.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            (state.databases, state.entries) = ([:], [:])
        }
        thread.close()
    }

    /// As `_scheduler/docs` shows a document whose replication is not at its end.
    func json(_ origin: ReplicationJob.Origin) -> JSON? {
        guard let entry = state.withLock({ $0.entries[origin] }) else { return nil }
        if let job = entry.job.flatMap({ scheduler.job($0.id) }), job.origin == origin { return job.documentJSON }
        return [
            "database": .string(origin.database), "doc_id": .string(origin.document.string),
            "id": entry.job.map { .string($0.id) } ?? .null, "node": "nonode@nohost",
            "source": ReplicationDocument.shownAddress(entry.order["source"]),
            "target": ReplicationDocument.shownAddress(entry.order["target"]),
            "state": entry.problem == nil ? "initializing" : "error",
            "info": entry.problem.map { ["error": .string($0)] } ?? .null,
            "error_count": entry.problem == nil ? 0 : 1, "last_updated": .string(entry.updated.iso8601),
            "start_time": .string(entry.updated.iso8601),
        ]
    }

    /// Takes all changes there are, and asks to be called at the next one. After a failure the next commit has it look again
    /// from where it came to.
    private func look(_ name: String, _ database: Database) {
        guard state.withLock({ !$0.isStopped && $0.databases[name] === database }) else { return }
        var seen = state.withLock { $0.seen[name] } ?? UpdateSequence(0)
        var newest = seen
        do {
            newest = try database.lastSequence()
            try database.forEachChange(in: SequenceRange(after: seen), includingDocuments: true) { change in
                take(change, of: name, database)
                seen = change.sequence
                return true
            }
            // Purges move the sequence on without a change.
            seen = max(seen, newest)
        } catch let error as DatabaseError where error.code == .closed { return forget(name) } catch {
            log?.warning("the replications of \(name) can't be read: \(error)")
        }
        state.withLock { $0.seen[name] = seen }
        _ = database.notify(after: max(seen, newest)) { [weak self, weak database] isOpen in
            guard let self else { return }
            let open = isOpen ? database : nil
            thread.submit { if let open { self.look(name, open) } else { self.forget(name) } }
        }
    }

    private func take(_ change: Change, of name: String, _ database: Database) {
        guard !change.id.isDesign else { return }
        let origin = ReplicationJob.Origin(database: name, document: change.id)
        let members = change.isDeleted ? nil : change.document?.json.object
        let isAtEnd = ["completed", "failed"].contains(members?["_replication_state"]?.string)
        guard let members, !isAtEnd else { return drop(origin) }
        let order = Self.order(members)
        guard state.withLock({ $0.entries[origin]?.order }) != order else { return }
        drop(origin)
        let document: ReplicationDocument
        do { document = try ReplicationDocument(members) } catch { return fail(origin, error.message, order) }
        let user = members["owner"]
        // Without an owner it was written by no user of the server, but by whoever has its files.
        let isAdmin = user.map { $0.string.map(self.isAdmin) ?? false } ?? true
        if let problem = scheduler.problem(with: document, isAdmin: isAdmin) { return fail(origin, problem, order) }
        let number = state.withLock { state in
            state.count += 1
            state.entries[origin] = Entry(order: order, number: state.count)
            return state.count
        }
        begin(origin, document, user: user?.string, isAdmin: isAdmin, number)
    }

    private func begin(
        _ origin: ReplicationJob.Origin, _ document: ReplicationDocument, user: String?, isAdmin: Bool, _ number: Int
    ) {
        let client = scheduler.policy.client(isAdmin: isAdmin)
        Task {
            do {
                let job = ReplicationJob(
                    id: ReplicationJob.id(try await JobRun.id(document, client), document), document: document,
                    origin: origin, user: user, isAdmin: isAdmin)
                change(origin, number) { $0.job = job }
                thread.submit { [self] in start(job, number) }
            } catch {
                let problem = (error as? PeerError)?.message ?? "\(error)"
                change(origin, number) { $0.problem = problem }
            }
        }
    }

    /// Hands a job on, unless its document has changed meanwhile; of two that are the same, one runs.
    private func start(_ job: ReplicationJob, _ number: Int) {
        guard let origin = job.origin, state.withLock({ $0.entries[origin]?.number == number }) else { return }
        let other = scheduler.add(job)
        change(origin, number) { entry in
            entry.problem = other.map { other in
                "this replication is started already, by "
                    + (other.origin.map { "the document \($0.document) of \($0.database)" } ?? "a request")
            }
        }
    }

    private func retryDuplicates(of id: String) {
        thread.submit { [self] in
            let waiting = state.withLock { state in
                state.entries.values.filter { $0.problem != nil && $0.job?.id == id }.sorted { $0.number < $1.number }
            }
            for entry in waiting { if let job = entry.job { start(job, entry.number) } }
        }
    }

    private func change(_ origin: ReplicationJob.Origin, _ number: Int, _ body: (inout Entry) -> Void) {
        state.withLock { state in
            guard var entry = state.entries[origin], entry.number == number else { return }
            body(&entry)
            state.entries[origin] = entry
        }
    }

    private func drop(_ origin: ReplicationJob.Origin) {
        guard let entry = state.withLock({ $0.entries.removeValue(forKey: origin) }), let id = entry.job?.id else {
            return
        }
        scheduler.remove(id) { $0.origin == origin }
    }

    private func forget(_ name: String) {
        let origins = state.withLock { state in
            state.databases[name] = nil
            state.seen[name] = nil
            return state.entries.keys.filter { $0.database == name }
        }
        for origin in origins { drop(origin) }
    }

    private func fail(_ origin: ReplicationJob.Origin, _ reason: String, _ order: JSONObject) {
        log?.warning(
            "a replication can't be: \(reason)", ["document": "\(origin.database)/\(origin.document)"])
        write(origin, order) { members in
            members["_replication_state"] = "failed"
            members["_replication_state_time"] = .string(WallTime.now().iso8601)
            members["_replication_stats"] = nil
            members["_replication_state_reason"] = .string(reason)
        }
    }

    private func complete(_ job: ReplicationJob, _ seen: ReplicationStatus.Seen) {
        guard let origin = job.origin, let entry = state.withLock({ $0.entries[origin] }), entry.job?.id == job.id
        else { return }
        write(origin, entry.order) { members in
            members["_replication_state"] = "completed"
            members["_replication_state_time"] = .string(WallTime.now().iso8601)
            members["_replication_state_reason"] = nil
            members["_replication_stats"] = .object(
                JSONObject([("start_time", .string(job.start.iso8601))] + ReplicationJob.statistics(seen)))
        }
        state.withLock { state in
            if state.entries[origin]?.number == entry.number { state.entries[origin] = nil }
        }
    }

    /// Writes a note into a document, if it still asks for the same.
    private func write(
        _ origin: ReplicationJob.Origin, _ order: JSONObject, _ note: (inout JSONObject) -> Void
    ) {
        guard let database = state.withLock({ $0.databases[origin.database] }) else { return }
        do {
            try database.transaction {
                guard let record = try database.record(of: origin.document), let winner = record.tree.winner,
                    !winner.isDeleted, let content = record.content, var members = content.body.json.object,
                    Self.order(members) == order
                else { return }
                note(&members)
                let edit = DocumentEdit(
                    id: origin.document, parent: winner.revision, body: try DocumentBody(.object(members)),
                    attachments: content.attachments)
                for result in try database.write([edit]) { _ = try result.get() }
            }
        } catch {
            log?.warning(
                "the state of a replication was not written: \(error)",
                ["document": "\(origin.database)/\(origin.document)"])
        }
    }

    /// The members that say what is to be done.
    private static func order(_ members: JSONObject) -> JSONObject {
        JSONObject(members.filter { !$0.name.hasPrefix("_replication_") }.map { ($0.name, $0.value) })
    }
}
