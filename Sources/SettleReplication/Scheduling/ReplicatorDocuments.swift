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
///
/// Where several nodes share a database, all of them know all of its documents, and a job runs on the node that has its lease
/// (``LeaseKeeping``). The notes are written under that lease, so a node that slept through its term writes none.
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
        /// The lease it asks for.
        var lease: LeaseName?
    }

    /// Returns the client that sends the requests of a document's replication; throws why it is not allowed.
    package typealias Admission =
        @Sendable (ReplicationDocument, _ owner: JSONValue?) throws(ReplicationDocumentError) -> any HTTPTransport

    struct State {
        var databases: [String: Database] = [:]
        var seen: [String: UpdateSequence] = [:]
        /// Databases that could not be read the last time.
        var unread: Set<String> = []
        var entries: [String: [DocumentID: Entry]] = [:]
        /// Documents that wait for the job of an id, with the numbers of their entries: another document or a request has it,
        /// or this node has no lease for it.
        var waiting: [String: [ReplicationJob.Origin: Int]] = [:]
        /// Keeps the leases of databases that have some.
        var keeper: LeaseKeeper?
        var leased: Set<String> = []
        var count = 0
        var isStopped = false

        subscript(origin: ReplicationJob.Origin) -> Entry? {
            get { entries[origin.database]?[origin.document] }
            set { entries[origin.database, default: [:]][origin.document] = newValue }
        }

        /// Makes an entry, and returns its number.
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
    ///   - clock: Measures how old leases are; tests replace it.
    ///   - admit: Says which replications are allowed.
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

    /// Begins to look at a database, unless it is looked at already.
    package func watch(_ name: String, _ database: Database) {
        let leases = database.leases
        if let leases { keeper(named: leases.node).use(leases, of: name) }
        state.withLock { state in
            state.databases[name] = database
            if leases == nil { state.leased.remove(name) } else { state.leased.insert(name) }
        }
        queue.async { [weak self] in self?.look(name, database) }
    }

    /// Looks no more. Leases are kept until ``leave(areEnded:)``.
    package func stop() {
        let keeper = state.withLock { state in
            state.isStopped = true
            (state.databases, state.entries, state.waiting) = ([:], [:], [:])
            return state.keeper
        }
        keeper?.stop()
    }

    /// Keeps no leases any more; called after ``stop()`` and the scheduler's end.
    ///
    /// - Parameter areEnded: Whether all runs have ended, so that the leases are given back and other nodes need not wait.
    package func leave(areEnded: Bool) { state.withLock(\.keeper)?.finish(areEnded: areEnded) }
}
