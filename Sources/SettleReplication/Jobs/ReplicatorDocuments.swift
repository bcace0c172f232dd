internal import Dispatch
package import SettleCore
package import SettleDatabase
package import SettleHTTP
package import SettlePlatform

/// Adds and removes the jobs that the documents of replicator databases define.
///
///     change of a document ──▶ deleted, completed or failed: its job is stopped
///                              it asks for the same as before: nothing; it was our own note, or somebody's comment
///                              else: its job is stopped, and another one begins
///     a job is completed  ──▶ a note in the document, so that it does not begin again at the next start
///
/// All work happens on one queue, which looks for changes after each commit.
///
/// If several nodes share a database, all of them know all of its documents, and a job runs on the node that has
/// its lease (``LeaseKeeping``). Results are written under that lease, so a node that was suspended until the lease
/// expired writes none.
package final class ReplicatorDocuments: Sendable {
    /// A document whose replication has not ended.
    package struct Entry: Sendable {
        /// The members that define the replication.
        package let order: JSONObject
        /// Distinguishes results of this entry from those of an earlier one.
        let number: Int
        package let updated = WallTime.now()
        package var job: ReplicationJob?
        /// The reason why there is no job.
        package var problem: String?
        /// The lease that it needs.
        var lease: LeaseName?
    }

    /// Returns the client that sends the requests of a document's replication; throws the reason if the replication
    /// is not allowed.
    package typealias Admission =
        @Sendable (ReplicationDocument, _ owner: JSONValue?) throws(ReplicationDocumentError) -> any HTTPTransport

    struct State {
        var databases: [String: Database] = [:]
        var seen: [String: UpdateSequence] = [:]
        /// The databases that could not be read the last time.
        var unread: Set<String> = []
        var entries: [String: [DocumentID: Entry]] = [:]
        /// The documents that wait for the job of an id, with the numbers of their entries. Another document or a
        /// request has that job, or this node has no lease for it.
        var waiting: [String: [ReplicationJob.Origin: Int]] = [:]
        /// Keeps the leases, if databases have some.
        var keeper: LeaseKeeper?
        var leased: Set<String> = []
        /// A pass over all databases that is queued and has not begun.
        var pass: DispatchGroup?
        var count = 0
        var isStopped = false

        subscript(origin: ReplicationJob.Origin) -> Entry? {
            get { entries[origin.database]?[origin.document] }
            set { entries[origin.database, default: [:]][origin.document] = newValue }
        }

        /// Adds an entry, and returns its number.
        mutating func add(_ order: JSONObject, _ origin: ReplicationJob.Origin) -> Int {
            count += 1
            self[origin] = Entry(order: order, number: count)
            return count
        }
    }

    let scheduler: ReplicationScheduler
    let admit: Admission
    let warn: @Sendable (String, _ origin: ReplicationJob.Origin?) -> Void
    let queue = DispatchQueue(label: "settle.replicator")
    let state = Guarded(State())
    let clock: LeaseClock

    /// - Parameters:
    ///   - scheduler: Runs the jobs.
    ///   - clock: Measures the age of leases; tests replace it.
    ///   - admit: Decides which replications are allowed.
    ///   - warn: Called with problems.
    package init(
        _ scheduler: ReplicationScheduler, clock: some Clock<Duration> = ContinuousClock(), admit: @escaping Admission,
        warn: @escaping @Sendable (String, _ origin: ReplicationJob.Origin?) -> Void
    ) {
        (self.scheduler, self.admit, self.warn) = (scheduler, admit, warn)
        self.clock = LeaseClock(clock)
        scheduler.observe { [weak self] notice in
            guard let self else { return }
            switch notice {
            case .completed(let job, _): queue.async { self.complete(job) }
            case .removed(let id): queue.async { self.startWaiting(for: id) }
            case .started, .failed: break
            }
        }
    }

    /// Starts to watch a database, unless it is watched already. It replaces another one of the same name, which was
    /// deleted.
    package func watch(_ name: String, _ database: Database) {
        queue.async { [weak self] in
            guard let self, state.withLock({ !$0.isStopped && $0.databases[name] !== database }) else { return }
            forget(name)
            let leases = database.leases
            if let leases { keeper(named: leases.node).use(leases, of: name) }
            state.withLock { state in
                state.databases[name] = database
                if leases == nil { state.leased.remove(name) } else { state.leased.insert(name) }
            }
            look(name, database)
        }
    }

    /// Stops watching. Leases are kept until ``leave(areEnded:)``.
    package func stop() {
        let keeper = state.withLock { state in
            state.isStopped = true
            (state.databases, state.entries, state.waiting) = ([:], [:], [:])
            return state.keeper
        }
        keeper?.stop()
    }

    /// Stops keeping leases; called after ``stop()`` and the end of the scheduler.
    ///
    /// - Parameter areEnded: Whether all runs have ended, so that the leases are returned and other nodes need not
    ///   wait.
    package func leave(areEnded: Bool) { state.withLock(\.keeper)?.finish(areEnded: areEnded) }
}

// MARK: - Reading

/// Reads documents.
extension ReplicatorDocuments {
    /// Handles all changes, and requests a call at the next one. After a failure it continues a second later from the
    /// reached position.
    func look(_ name: String, _ database: Database) {
        do {
            guard let seen = try handleChanges(of: name, database) else { return }
            let watched = ObjectIdentifier(database)
            _ = database.notify(after: seen) { [weak self, weak database] isOpen in
                guard let self else { return }
                let open = isOpen ? database : nil
                queue.async { if let open { self.look(name, open) } else { self.forget(name, watched) } }
            }
        } catch let error as DatabaseError where error.code == .closed {
            forget(name, ObjectIdentifier(database))
        } catch { lookLater(name, database, error) }
    }

    /// Handles the changes up to now, so that no job is shown whose document was deleted or changed before. The job of
    /// a new document may begin a moment later. It must not be called on the queue.
    ///
    ///     catchUp ──▶ a pass is queued and has not begun: waits for that one
    ///             ──▶ otherwise: queues one, and waits for it
    ///
    /// A caller waits at most ten seconds. A pass skips a database whose last read failed, until the replicator reads it
    /// again, after a second or after its next commit. So the known jobs are shown during an outage.
    package func catchUp() {
        let (pass, isNew) = state.withLock { state in
            if let pass = state.pass { return (pass, false) }
            let pass = DispatchGroup()
            pass.enter()
            state.pass = pass
            return (pass, true)
        }
        if isNew {
            queue.async { [self] in
                let (databases, unread) = state.withLock { state in
                    state.pass = nil
                    return (state.databases, state.unread)
                }
                for (name, database) in databases where !unread.contains(name) {
                    do { _ = try handleChanges(of: name, database) } catch {
                        // A closed database is forgotten when its notification comes.
                        if (error as? DatabaseError)?.code != .closed { markUnread(name, error) }
                    }
                }
                pass.leave()
            }
        }
        _ = pass.wait(timeout: .now() + 10)
    }

    /// Handles the changes that were not handled yet; returns the position reached, or `nil` if the database is not
    /// watched any longer.
    private func handleChanges(of name: String, _ database: Database) throws -> UpdateSequence? {
        guard state.withLock({ !$0.isStopped && $0.databases[name] === database }) else { return nil }
        let known = state.withLock { $0.seen[name] }
        var seen = known ?? UpdateSequence(0)
        defer { state.withLock { $0.seen[name] = seen } }
        let newest = try database.lastSequence()
        if newest != known {
            try database.forEachChange(in: SequenceRange(after: seen), includingDocuments: true) { change in
                handle(change, of: name)
                seen = change.sequence
                return true
            }
            // Purges increase the sequence without a change.
            seen = max(seen, newest)
        }
        state.withLock { _ = $0.unread.remove(name) }
        return seen
    }

    /// Retries after a second: a database that is suspended, or whose server can't be reached, would fail again at
    /// once.
    private func lookLater(_ name: String, _ database: Database, _ error: any Error) {
        markUnread(name, error)
        queue.asyncAfter(deadline: .now() + 1) { [weak self, weak database] in
            if let database { self?.look(name, database) }
        }
    }

    private func markUnread(_ name: String, _ error: any Error) {
        let isNew = state.withLock { $0.unread.insert(name).inserted }
        if isNew { warn("the replications of \(name) can't be read: \(error)", nil) }
    }

    private func handle(_ change: Change, of name: String) {
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
            let number = state.withLock { $0.add(order, origin) }
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

    func change(_ origin: ReplicationJob.Origin, _ number: Int, _ body: (inout Entry) -> Void) {
        state.withLock { state in
            guard var entry = state[origin], entry.number == number else { return }
            body(&entry)
            state[origin] = entry
        }
    }

    private func drop(_ origin: ReplicationJob.Origin) {
        guard let entry = state.withLock({ $0[origin] }) else { return }
        // A document of which nothing is shown has no job either.
        if let id = entry.job?.id { scheduler.remove(id) { $0.origin == origin } }
        if let lease = remove(origin, entry.number) { keeper(of: origin.database)?.unwant(lease) }
    }

    /// Removes an entry; returns the lease that it needed.
    func remove(_ origin: ReplicationJob.Origin, _ number: Int) -> LeaseName? {
        state.withLock { state in
            guard let entry = state[origin], entry.number == number else { return nil }
            state[origin] = nil
            if let id = entry.job?.id { state.waiting[id]?[origin] = nil }
            return entry.lease
        }
    }

    /// Ends the jobs of a database that was closed, unless another one has its name now.
    private func forget(_ name: String, _ watched: ObjectIdentifier) {
        guard state.withLock({ $0.databases[name].map(ObjectIdentifier.init) == watched }) else { return }
        forget(name)
    }

    private func forget(_ name: String) {
        let documents = state.withLock { state in
            state.databases[name] = nil
            state.seen[name] = nil
            state.unread.remove(name)
            return Array((state.entries[name] ?? [:]).keys)
        }
        for document in documents { drop(ReplicationJob.Origin(database: name, document: document)) }
    }

    /// The members that define the replication.
    static func order(_ members: JSONObject) -> JSONObject {
        JSONObject(members.filter { !$0.name.hasPrefix("_replication_") }.map { ($0.name, $0.value) })
    }
}

// MARK: - Starting

/// Passes jobs to the scheduler.
extension ReplicatorDocuments {
    /// Passes a job to the scheduler, unless its document has changed meanwhile. Of two equal jobs only one runs.
    /// If there are leases, the job first waits for its lease.
    func start(_ job: ReplicationJob, _ origin: ReplicationJob.Origin, _ number: Int) {
        guard state.withLock({ $0[origin]?.number == number }) else { return }
        guard let keeper = keeper(of: origin.database) else { return add(job, origin, number) }
        let lease = LeaseName(origin.database, .run, job.id)
        ask(for: lease, origin, number)
        guard keeper.allows(lease) else { return wait(for: job.id, origin, number) }
        // Another node may have completed it without this node having read that yet.
        guard scheduler.job(job.id) != nil || asksStill(origin) else {
            wait(for: job.id, origin, number)
            return keeper.refuse(lease)
        }
        add(job, origin, number)
        // The lease may have been lost since the check.
        guard !keeper.allows(lease), scheduler.remove(job.id, where: { $0.origin == origin }) != nil else { return }
        wait(for: job.id, origin, number)
    }

    private func add(_ job: ReplicationJob, _ origin: ReplicationJob.Origin, _ number: Int) {
        let other = scheduler.add(job).flatMap { $0.origin == origin ? nil : $0 }
        let problem = other.map { Self.isStarted(by: $0.origin) }
        change(origin, number) { $0.problem = problem }
        guard other != nil else { return }
        state.withLock { $0.waiting[job.id, default: [:]][origin] = number }
        // The other job may have ended meanwhile.
        if scheduler.job(job.id) == nil { startWaiting(for: job.id) }
    }

    static func isStarted(by origin: ReplicationJob.Origin?) -> String {
        "this replication is started already, by "
            + (origin.map { "the document \($0.document) of \($0.database)" } ?? "a request")
    }

    /// Starts the documents that wait for the job of an id, as far as possible.
    func startWaiting(for id: String) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: id) } ?? [:]
        for (origin, number) in waiting.sorted(by: { $0.value < $1.value }) {
            if let job = state.withLock({ $0[origin] })?.job { start(job, origin, number) }
        }
    }

    /// Makes a document wait for the job of an id.
    func wait(for id: String, _ origin: ReplicationJob.Origin, _ number: Int) {
        change(origin, number) { $0.problem = nil }
        state.withLock { state in
            guard state[origin]?.number == number else { return }
            state.waiting[id, default: [:]][origin] = number
        }
    }
}
