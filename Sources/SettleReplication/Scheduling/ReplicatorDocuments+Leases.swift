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
            noteFailure(ReplicationJob.Origin(database: lease.database, document: DocumentID(unchecked: lease.id)))
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
