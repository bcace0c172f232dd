internal import Dispatch
internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Leases of jobs, where several nodes share a database.
extension ReplicatorDocuments {
    /// What keeps the leases of a database; `nil` for one without.
    func keeper(of database: String) -> LeaseKeeper? {
        state.withLock { $0.leased.contains(database) ? $0.keeper : nil }
    }

    /// What keeps the leases of all databases; made when the first one has leases.
    func keeper(named node: String) -> LeaseKeeper {
        state.withLock { state in
            if let keeper = state.keeper { return keeper }
            let keeper = LeaseKeeper(node: node, room: scheduler.room, clock: clock, work: work)
            state.keeper = keeper
            return keeper
        }
    }

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

    /// Asks for a lease that an entry needs, once.
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
            // One that is not there yet is about to be started; one that somebody else has started takes up no room.
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

/// Jobs as all nodes show them.
extension ReplicatorDocuments {
    /// The name of this node, where databases have leases.
    package var node: String? { state.withLock(\.keeper)?.node }

    /// The known facts of a document; `nil` for one whose replication is at its end, and for other documents.
    package func entry(_ origin: ReplicationJob.Origin) -> Entry? {
        guard var entry = state.withLock({ $0[origin] }) else { return nil }
        if entry.problem == nil, let other = runningDocument(of: entry, origin), other != origin {
            entry.problem = Self.isStarted(by: other)
        }
        return entry
    }

    /// The job of a document as it is now, on the node that has it; `nil` for a document that has none.
    package func job(of origin: ReplicationJob.Origin) -> ReplicationJob? {
        guard let entry = entry(origin), let job = entry.job else { return nil }
        if let job = scheduler.job(job.id), job.origin == origin { return job }
        guard entry.problem == nil, keeper(of: origin.database) != nil else { return nil }
        return elsewhere(job, entry)
    }

    /// The jobs that other nodes have, and those for which no node has room yet, ordered by id.
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

    /// The document whose job a node runs under the lease for which an entry waits.
    private func runningDocument(of entry: Entry, _ origin: ReplicationJob.Origin) -> ReplicationJob.Origin? {
        guard let lease = entry.lease, let keeper = keeper(of: origin.database), keeper.lease(of: lease) == nil else {
            return nil
        }
        let status = keeper.listed(lease)?.status.flatMap(JobStatus.init)
        return status.map { ReplicationJob.Origin(database: origin.database, document: $0.document) }
    }

    /// A job that this node does not have, as its node last said it was.
    private func elsewhere(_ job: ReplicationJob, _ entry: Entry) -> ReplicationJob {
        var job = job
        let listed = entry.lease.flatMap { keeper(of: $0.database)?.listed($0) }
        job.place = listed.map { .node($0.node) } ?? .nowhere
        listed?.status.flatMap(JobStatus.init)?.show(in: &job)
        return job
    }
}
