internal import SettleDatabase
internal import SettlePlatform

/// Handing jobs to the scheduler.
extension ReplicatorDocuments {
    /// Hands a job on, unless its document has changed meanwhile; of two that are the same, one runs. Where there are leases,
    /// it waits for one.
    func start(_ job: ReplicationJob, _ origin: ReplicationJob.Origin, _ number: Int) {
        guard state.withLock({ $0[origin]?.number == number }) else { return }
        guard let keeper = keeper(of: origin.database) else { return add(job, origin, number) }
        let lease = LeaseName(origin.database, .run, job.id)
        ask(for: lease, origin, number)
        guard keeper.allows(lease) else { return wait(for: job.id, origin, number) }
        // Another node may have completed it, and this one has not read that yet.
        guard scheduler.job(job.id) != nil || asksStill(origin) else {
            wait(for: job.id, origin, number)
            return keeper.refuse(lease)
        }
        add(job, origin, number)
        // The lease may have been lost since it was looked at.
        guard !keeper.allows(lease), scheduler.remove(job.id, where: { $0.origin == origin }) != nil else { return }
        wait(for: job.id, origin, number)
    }

    private func add(_ job: ReplicationJob, _ origin: ReplicationJob.Origin, _ number: Int) {
        let other = scheduler.add(job).flatMap { $0.origin == origin ? nil : $0 }
        let problem = other.map { Self.isStarted(by: $0.origin) }
        change(origin, number) { $0.problem = problem }
        guard other != nil else { return }
        state.withLock { $0.waiting[job.id, default: [:]][origin] = number }
        // The other one may have ended meanwhile.
        if scheduler.job(job.id) == nil { startWaiting(for: job.id) }
    }

    static func isStarted(by origin: ReplicationJob.Origin?) -> String {
        "this replication is started already, by "
            + (origin.map { "the document \($0.document) of \($0.database)" } ?? "a request")
    }

    /// Starts what waits for the job of an id, as far as it can.
    func startWaiting(for id: String) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: id) } ?? [:]
        for (origin, number) in waiting.sorted(by: { $0.value < $1.value }) {
            if let job = state.withLock({ $0[origin] })?.job { start(job, origin, number) }
        }
    }

    /// Keeps a document until there is a lease.
    func wait(for id: String, _ origin: ReplicationJob.Origin, _ number: Int) {
        change(origin, number) { $0.problem = nil }
        state.withLock { state in
            guard state[origin]?.number == number else { return }
            state.waiting[id, default: [:]][origin] = number
        }
    }
}
