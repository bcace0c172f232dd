internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Leases of jobs, if several nodes share a database.
extension ReplicatorDocuments {
    /// Keeps the leases of a database; `nil` if the database has none.
    func keeper(of database: String) -> LeaseKeeper? {
        state.withLock { $0.leased.contains(database) ? $0.keeper : nil }
    }

    /// Keeps the leases of all databases; created when the first database has leases.
    func keeper(named node: String) -> LeaseKeeper {
        state.withLock { state in
            if let keeper = state.keeper { return keeper }
            let keeper = LeaseKeeper(node: node, room: scheduler.room, clock: clock, work: work)
            state.keeper = keeper
            return keeper
        }
    }

    /// Whether nothing about leases is to be done until some time passes.
    var areLeasesIdle: Bool { state.withLock(\.keeper)?.isIdle ?? true }

    private var work: LeaseKeeper.Work {
        LeaseKeeper.Work(
            standings: { [weak self] in self?.standings($0) ?? [:] }, status: { [weak self] in self?.status($0) },
            start: { [weak self] lease in
                guard let self else { return }
                queue.async { self.start(lease) }
            },
            end: { [weak self] lease, atOnce, ended in
                guard let self, lease.kind == .run else { return ended() }
                end(lease, atOnce, ended)
            },
            warn: { [weak self] message, lease in
                self?.warn(lease.map { "\(message): \($0.id)" } ?? message, nil)
            })
    }

    /// Requests the lease that an entry needs, once.
    func ask(for lease: LeaseName, _ origin: ReplicationJob.Origin, _ number: Int) {
        var isNew = false
        change(origin, number) { entry in
            isNew = entry.lease == nil
            entry.lease = lease
        }
        if isNew { keeper(of: lease.database)?.want(lease) }
    }

    private func start(_ lease: LeaseName) {
        switch lease.kind {
        case .run: startWaiting(for: lease.id)
        case .note:
            storeFailure(ReplicationJob.Origin(database: lease.database, document: DocumentID(unchecked: lease.id)))
        case .node: break
        }
    }

    private func end(_ lease: LeaseName, _ atOnce: Bool, _ ended: @escaping @Sendable () -> Void) {
        let job = scheduler.end(
            lease.id, atOnce: atOnce, where: { $0.origin?.database == lease.database }, ended: ended)
        guard let origin = job?.origin, let number = state.withLock({ $0[origin]?.number }) else { return }
        wait(for: lease.id, origin, number)
    }

    private func standings(_ leases: [LeaseName]) -> [LeaseName: LeaseKeeping.Standing] {
        var standings: [LeaseName: LeaseKeeping.Standing] = [:]
        for lease in leases where lease.kind == .run {
            // A job that does not exist yet is about to start. A job that was started elsewhere takes up no room.
            standings[lease] =
                scheduler.standing(of: lease.id, from: lease.database)
                ?? (scheduler.job(lease.id) == nil ? .working : .resting)
        }
        return standings
    }

    private func status(_ lease: LeaseName) -> [UInt8]? {
        guard lease.kind == .run, let job = scheduler.job(lease.id), job.origin?.database == lease.database else {
            return nil
        }
        return JobStatus(job)?.bytes
    }
}

// MARK: - Shown

/// The jobs of all nodes, for display.
extension ReplicatorDocuments {
    /// The name of this node, if databases have leases.
    package var node: String? { state.withLock(\.keeper)?.node }

    /// The known state of a document; `nil` if its replication has ended, or if it is not a replication.
    package func entry(_ origin: ReplicationJob.Origin) -> Entry? {
        guard var entry = state.withLock({ $0[origin] }) else { return nil }
        if entry.problem == nil, let other = runningDocument(of: entry, origin), other != origin {
            entry.problem = Self.isStarted(by: other)
        }
        return entry
    }

    /// The current job of a document, on any node; `nil` if it has none.
    package func job(of origin: ReplicationJob.Origin) -> ReplicationJob? {
        guard let entry = entry(origin), let job = entry.job else { return nil }
        if let job = scheduler.job(job.id), job.origin == origin { return job }
        guard entry.problem == nil, keeper(of: origin.database) != nil else { return nil }
        return elsewhere(job, entry)
    }

    /// The jobs of other nodes, and those that wait for room on any node, ordered by id.
    package var jobsElsewhere: [ReplicationJob] {
        let waiting = state.withLock { state in
            state.leased.isEmpty
                ? [] : state.waiting.values.flatMap(\.keys).filter { state.leased.contains($0.database) }
        }
        var jobs: [LeaseName: ReplicationJob] = [:]
        for origin in waiting.sorted(by: { ($0.database, $0.document) < ($1.database, $1.document) }) {
            guard let entry = entry(origin), entry.problem == nil, let lease = entry.lease, let job = entry.job,
                jobs[lease] == nil, scheduler.job(job.id)?.origin?.database != origin.database
            else { continue }
            jobs[lease] = elsewhere(job, entry)
        }
        return jobs.values.sorted { $0.id < $1.id }
    }

    /// The document whose job another node runs under the lease that an entry waits for.
    private func runningDocument(of entry: Entry, _ origin: ReplicationJob.Origin) -> ReplicationJob.Origin? {
        guard let lease = entry.lease, let keeper = keeper(of: origin.database), keeper.lease(of: lease) == nil else {
            return nil
        }
        let status = keeper.listed(lease)?.status.flatMap(JobStatus.init)
        return status.map { ReplicationJob.Origin(database: origin.database, document: $0.document) }
    }

    /// A job of another node, in the state that the node has stored.
    private func elsewhere(_ job: ReplicationJob, _ entry: Entry) -> ReplicationJob {
        var job = job
        let listed = entry.lease.flatMap { keeper(of: $0.database)?.listed($0) }
        job.place = listed.map { .node($0.node) } ?? .nowhere
        listed?.status.flatMap(JobStatus.init)?.show(in: &job)
        return job
    }
}
