internal import SettleDatabase
internal import SettlePlatform

/// Jobs as all nodes show them.
extension ReplicatorDocuments {
    /// The name of this node, where databases have leases.
    package var node: String? { state.withLock(\.keeper)?.node }

    /// What is known of a document; `nil` for one whose replication is at its end, and for other documents.
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
