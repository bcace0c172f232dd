internal import Dispatch
package import SettleCore
package import SettleDatabase
package import SettlePlatform

/// Keeps the jobs for which replicator documents ask: those of databases that hold such documents.
///
///     change of a document ──▶ deleted, completed or failed: its job is stopped
///                              it asks for the same as before: nothing; it was our own note, or somebody's comment
///                              else: its job is stopped, and another one begins
///     a job is completed  ──▶ a note in the document, so that it does not begin again at the next start
///
/// All of it happens on one queue, which begins to look when something is committed.
package final class ReplicatorDocuments: Sendable {
    /// A document whose replication is not at its end.
    package struct Entry: Sendable {
        /// The members that say what to do.
        package let order: JSONObject
        /// Tells whether an answer is about this entry or an earlier one.
        let number: Int
        package let updated = WallTime.now()
        package var job: ReplicationJob?
        /// Why there is no job.
        package var problem: String?
    }

    /// Returns the client that sends the requests of a document's replication; throws why it is not allowed.
    package typealias Admission =
        @Sendable (ReplicationDocument, _ owner: JSONValue?) throws(ReplicationDocumentError) -> any HTTPTransport

    private struct State {
        var databases: [String: Database] = [:]
        var seen: [String: UpdateSequence] = [:]
        var entries: [String: [DocumentID: Entry]] = [:]
        /// Documents that ask for what a job does already, by its id, with the numbers of their entries.
        var duplicates: [String: [ReplicationJob.Origin: Int]] = [:]
        var count = 0
        var isStopped = false

        subscript(origin: ReplicationJob.Origin) -> Entry? {
            get { entries[origin.database]?[origin.document] }
            set { entries[origin.database, default: [:]][origin.document] = newValue }
        }
    }

    private let scheduler: ReplicationScheduler
    private let admit: Admission
    private let warn: @Sendable (String, _ origin: ReplicationJob.Origin?) -> Void
    private let queue = DispatchQueue(label: "settle.replicator")
    private let state = Guarded(State())

    /// - Parameters:
    ///   - scheduler: Runs the jobs.
    ///   - admit: Says which replications are allowed.
    ///   - warn: Called with problems.
    package init(
        _ scheduler: ReplicationScheduler, admit: @escaping Admission,
        warn: @escaping @Sendable (String, _ origin: ReplicationJob.Origin?) -> Void
    ) {
        (self.scheduler, self.admit, self.warn) = (scheduler, admit, warn)
        scheduler.observe { [weak self] notice in
            guard let self else { return }
            switch notice {
            case .completed(let job, _): queue.async { self.complete(job) }
            case .removed(let id): queue.async { self.startDuplicates(of: id) }
            case .started, .failed: break
            }
        }
    }

    /// Begins to look at a database, unless it is looked at already.
    package func watch(_ name: String, _ database: Database) {
        state.withLock { $0.databases[name] = database }
        queue.async { [weak self] in self?.look(name, database) }
    }

    /// Looks no more.
    package func stop() {
        state.withLock { state in
            state.isStopped = true
            (state.databases, state.entries, state.duplicates) = ([:], [:], [:])
        }
    }

    /// What is known of a document; `nil` for one whose replication is at its end, and for other documents.
    package func entry(_ origin: ReplicationJob.Origin) -> Entry? { state.withLock { $0[origin] } }
}

/// Reading documents.
extension ReplicatorDocuments {
    /// Takes all changes there are, and asks to be called at the next one. After a failure the next commit has it continue
    /// where it came to.
    private func look(_ name: String, _ database: Database) {
        guard state.withLock({ !$0.isStopped && $0.databases[name] === database }) else { return }
        var seen = state.withLock { $0.seen[name] } ?? UpdateSequence(0)
        var newest = seen
        do {
            newest = try database.lastSequence()
            try database.forEachChange(in: SequenceRange(after: seen), includingDocuments: true) { change in
                take(change, of: name)
                seen = change.sequence
                return true
            }
            // Purges move the sequence on without a change.
            seen = max(seen, newest)
        } catch let error as DatabaseError where error.code == .closed { return forget(name) } catch {
            warn("the replications of \(name) can't be read: \(error)", nil)
        }
        state.withLock { $0.seen[name] = seen }
        _ = database.notify(after: max(seen, newest)) { [weak self, weak database] isOpen in
            guard let self else { return }
            let open = isOpen ? database : nil
            queue.async { if let open { self.look(name, open) } else { self.forget(name) } }
        }
    }

    private func take(_ change: Change, of name: String) {
        guard !change.id.isDesign else { return }
        let origin = ReplicationJob.Origin(database: name, document: change.id)
        let members = change.isDeleted ? nil : change.document?.json.object
        guard let members, ![.completed, .failed].contains(ReplicationDocument.state(of: members)) else {
            return drop(origin)
        }
        let order = Self.order(members)
        guard state.withLock({ $0[origin]?.order }) != order else { return }
        drop(origin)
        let owner = members["owner"]
        do {
            let document = try ReplicationDocument(members)
            let client = try admit(document, owner)
            let number = state.withLock { state in
                state.count += 1
                state[origin] = Entry(order: order, number: state.count)
                return state.count
            }
            begin(origin, document, user: owner?.string, client, number)
        } catch { fail(origin, error.message, order) }
    }

    private func begin(
        _ origin: ReplicationJob.Origin, _ document: ReplicationDocument, user: String?, _ client: any HTTPTransport,
        _ number: Int
    ) {
        Task {
            do {
                let job = ReplicationJob(
                    id: try await document.jobID(client), document: document, origin: origin, user: user, client: client
                )
                change(origin, number) { $0.job = job }
                queue.async { [self] in start(job, origin, number) }
            } catch {
                let problem = (error as? PeerError)?.message ?? "\(error)"
                change(origin, number) { $0.problem = problem }
            }
        }
    }

    /// Hands a job on, unless its document has changed meanwhile; of two that are the same, one runs.
    private func start(_ job: ReplicationJob, _ origin: ReplicationJob.Origin, _ number: Int) {
        guard state.withLock({ $0[origin]?.number == number }) else { return }
        let other = scheduler.add(job).flatMap { $0.origin == origin ? nil : $0 }
        change(origin, number) { entry in
            entry.problem = other.map { other in
                "this replication is started already, by "
                    + (other.origin.map { "the document \($0.document) of \($0.database)" } ?? "a request")
            }
        }
        guard other != nil else { return }
        state.withLock { $0.duplicates[job.id, default: [:]][origin] = number }
        // The other one may have ended meanwhile.
        if scheduler.job(job.id) == nil { startDuplicates(of: job.id) }
    }

    private func startDuplicates(of id: String) {
        let waiting = state.withLock { $0.duplicates.removeValue(forKey: id) } ?? [:]
        for (origin, number) in waiting.sorted(by: { $0.value < $1.value }) {
            if let job = state.withLock({ $0[origin] })?.job { start(job, origin, number) }
        }
    }

    private func change(_ origin: ReplicationJob.Origin, _ number: Int, _ body: (inout Entry) -> Void) {
        state.withLock { state in
            guard var entry = state[origin], entry.number == number else { return }
            body(&entry)
            state[origin] = entry
        }
    }

    private func drop(_ origin: ReplicationJob.Origin) {
        let id = state.withLock { state in
            let id = state[origin]?.job?.id
            state[origin] = nil
            if let id { state.duplicates[id]?[origin] = nil }
            return id
        }
        if let id { scheduler.remove(id) { $0.origin == origin } }
    }

    private func forget(_ name: String) {
        let documents = state.withLock { state in
            state.databases[name] = nil
            state.seen[name] = nil
            return Array((state.entries[name] ?? [:]).keys)
        }
        for document in documents { drop(ReplicationJob.Origin(database: name, document: document)) }
    }
}

/// Writing notes into documents.
extension ReplicatorDocuments {
    private func fail(_ origin: ReplicationJob.Origin, _ reason: String, _ order: JSONObject) {
        warn("a replication can't be: \(reason)", origin)
        write(.failed, into: origin, order) { members in
            members["_replication_stats"] = nil
            members["_replication_state_reason"] = .string(reason)
        }
    }

    private func complete(_ job: ReplicationJob) {
        guard let origin = job.origin, let entry = state.withLock({ $0[origin] }), entry.job?.id == job.id else {
            return
        }
        write(.completed, into: origin, entry.order) { members in
            members["_replication_state_reason"] = nil
            members["_replication_stats"] = .object(
                JSONObject([("start_time", .string(job.start.iso8601))] + (job.status?.statistics ?? [])))
        }
        state.withLock { state in if state[origin]?.number == entry.number { state[origin] = nil } }
    }

    /// Writes a state into a document, if it still asks for the same.
    private func write(
        _ final: ReplicationState, into origin: ReplicationJob.Origin, _ order: JSONObject,
        _ note: (inout JSONObject) -> Void
    ) {
        guard let database = state.withLock({ $0.databases[origin.database] }) else { return }
        do {
            try database.transaction {
                guard let record = try database.record(of: origin.document), let winner = record.tree.winner,
                    !winner.isDeleted, let content = record.content, var members = content.body.json.object,
                    Self.order(members) == order
                else { return }
                members["_replication_state"] = .string(final.rawValue)
                members["_replication_state_time"] = .string(WallTime.now().iso8601)
                note(&members)
                let edit = DocumentEdit(
                    id: origin.document, parent: winner.revision, body: try DocumentBody(.object(members)),
                    attachments: content.attachments)
                for result in try database.write([edit]) { _ = try result.get() }
            }
        } catch { warn("the state of a replication was not written: \(error)", origin) }
    }

    /// The members that say what to do.
    private static func order(_ members: JSONObject) -> JSONObject {
        JSONObject(members.filter { !$0.name.hasPrefix("_replication_") }.map { ($0.name, $0.value) })
    }
}
