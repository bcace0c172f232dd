internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Keeps the leases of this node's jobs: it performs the actions that a ``LeaseKeeping`` decides.
///
/// Calls to the storage run on separate threads. While they wait, leases still expire by this node's clock.
final class LeaseKeeper: Sendable {
    /// The work that is done under leases. The closures return quickly.
    struct Work: Sendable {
        /// Returns how this node's jobs are doing. A job that is missing in the result takes up room.
        let standings: @Sendable ([LeaseName]) -> [LeaseName: LeaseKeeping.Standing]
        /// Returns the state of a job for other nodes.
        let status: @Sendable (LeaseName) -> [UInt8]?
        /// Starts the job of a lease.
        let start: @Sendable (LeaseName) -> Void
        /// Ends a job, at once or after it has stored what it has fetched, and then calls a closure.
        let end: @Sendable (LeaseName, _ atOnce: Bool, _ ended: @escaping @Sendable () -> Void) -> Void
        /// Called with a problem, and with the job that it is about.
        let warn: @Sendable (String, LeaseName?) -> Void
    }

    private struct State {
        var keeping: LeaseKeeping
        var databases: [String: any JobLeases] = [:]
        var listed: [String: [LeaseName: LeasedJob]] = [:]
        /// The databases whose leases could not be reached the last time.
        var unreached: Set<String> = []
        /// The time until which it waits, while there is something to wait for.
        var waitsUntil: Duration?
        /// The number of calls to the storage whose results were not passed on yet.
        var calls = 0
    }

    /// The name of this node.
    let node: String
    private let work: Work
    private let state: Guarded<State>
    private let calls = DispatchQueue(label: "settle.leases", attributes: .concurrent)
    private let clock: LeaseClock

    /// - Parameters:
    ///   - node: The name of this node.
    ///   - room: The maximum number of jobs that run at the same time.
    ///   - clock: Measures the age of leases.
    ///   - work: The work that is done under leases.
    init(node: String, room: Int, clock: LeaseClock, work: Work) {
        (self.node, self.clock, self.work) = (node, clock, work)
        state = Guarded(State(keeping: LeaseKeeping(node: node, room: room)))
    }

    /// Sets the storage of a database's leases.
    func use(_ leases: any JobLeases, of database: String) { state.withLock { $0.databases[database] = leases } }

    /// Requests a lease, until ``unwant(_:)`` was called equally often.
    func want(_ name: LeaseName) { handle(.wanted(name)) }

    /// Withdraws a request for a lease.
    func unwant(_ name: LeaseName) { handle(.unwanted(name)) }

    /// Returns the lease of a job that can't run here at the moment. While the lease is wanted, this node or
    /// another one takes it again.
    func refuse(_ name: LeaseName) { handle(.refused(name)) }

    /// Whether a run may begin now.
    func allows(_ name: LeaseName) -> Bool { state.withLock { $0.keeping.allows(name, at: clock.now()) } }

    /// The lease of a name, if this node has it now.
    func lease(of name: LeaseName) -> JobLease? { state.withLock { $0.keeping.lease(of: name, at: clock.now()) } }

    /// The last known state of a name's lease in the storage; `nil` if no node had it.
    func listed(_ name: LeaseName) -> LeasedJob? { state.withLock { $0.listed[name.database]?[name] } }

    /// Whether it has done all that there is to do until some time passes.
    var isIdle: Bool { state.withLock { $0.calls == 0 && $0.waitsUntil.map { $0 > clock.now() } ?? true } }

    /// Takes no more leases.
    func stop() { handle(.stopping) }

    /// Stops keeping leases.
    ///
    /// - Parameter areEnded: Whether all runs have ended. If so, the leases are returned, and this call waits until
    ///   that is done; otherwise they expire.
    func finish(areEnded: Bool) {
        let actions = state.withLock { $0.keeping.handle(.stopped, at: clock.now()) }
        for case .release(let database, let leases) in actions where areEnded { release(leases, of: database) }
    }

    private func handle(_ event: LeaseKeeping.Event) {
        for action in state.withLock({ $0.keeping.handle(event, at: clock.now()) }) { perform(action) }
        tick()
    }
}

/// Passes on time, and makes the calls.
extension LeaseKeeper {
    /// Passes on time until there is nothing left to wait for.
    private func tick() {
        let begins = state.withLock { state in
            guard state.waitsUntil == nil else { return false }
            state.waitsUntil = state.keeping.nextTime(after: clock.now())
            return state.waitsUntil != nil
        }
        guard begins else { return }
        Task { [weak self, clock] in
            while let time = self?.nextTime() {
                await clock.sleep(time)
                self?.look()
            }
        }
    }

    private func nextTime() -> Duration? {
        state.withLock { state in
            state.waitsUntil = state.keeping.nextTime(after: clock.now())
            return state.waitsUntil
        }
    }

    private func look() {
        let names = state.withLock { Array($0.keeping.holdings.keys) }
        handle(.time(work.standings(names)))
    }

    private func perform(_ action: LeaseKeeping.Action) {
        switch action {
        case .list(let database):
            call(database) { leases in
                try leases.all()
            } then: { keeper, all in
                let jobs = all?.compactMap { job in LeaseName(database, job: job.job).map { ($0, job) } }
                let listed = jobs.map { Dictionary($0) { first, _ in first } }
                if let listed { keeper.state.withLock { $0.listed[database] = listed } }
                keeper.handle(.listed(database, listed?.mapValues(\.node)))
            }
        case .take(let database, let names):
            call(database) { leases in
                try leases.take(names.map(\.job), atMost: names.count)
            } then: { keeper, taken in
                keeper.handle(.took(database, taken ?? []))
            }
        case .renew(let database, let held):
            call(database) { [work] leases in
                try leases.renew(held.map { (lease: $0.value, status: work.status($0.key)) })
            } then: { keeper, kept in
                keeper.handle(.renewed(database, kept))
            }
        case .release(let database, let leases): calls.async { [self] in release(leases, of: database) }
        case .start(let name, _): work.start(name)
        case .stop(let name, let run): end(name, run, atOnce: false)
        case .suspend(let name, let run):
            work.warn("the lease ran out or was given to another node, so the replication ends here", name)
            end(name, run, atOnce: true)
        }
    }

    private func end(_ name: LeaseName, _ run: Int, atOnce: Bool) {
        work.end(name, atOnce) { [weak self] in self?.handle(.ended(name, run: run)) }
    }

    private func release(_ leases: [JobLease], of database: String) {
        // If this fails, the leases expire.
        try? state.withLock({ $0.databases[database] })?.release(leases)
    }

    /// Makes a call on a thread, and passes on its result; `nil` if it failed.
    private func call<Answer: Sendable>(
        _ database: String, _ body: @escaping @Sendable (any JobLeases) throws -> Answer,
        then: @escaping @Sendable (LeaseKeeper, Answer?) -> Void
    ) {
        state.withLock { $0.calls += 1 }
        calls.async { [self] in
            var answer: Answer?
            do {
                answer = try state.withLock { $0.databases[database] }.map(body)
                state.withLock { _ = $0.unreached.remove(database) }
            } catch let error as DatabaseError where error.code == .closed {
                // The database was closed, and the caller that closed it removes its documents.
            } catch {
                let isNew = state.withLock { $0.unreached.insert(database).inserted }
                if isNew { work.warn("the leases of the replications of \(database) can't be reached: \(error)", nil) }
            }
            then(self, answer)
            state.withLock { $0.calls -= 1 }
        }
    }
}

// MARK: - LeaseClock

/// The clock with which a node measures the age of its leases.
struct LeaseClock: Sendable {
    /// The time since the clock was created.
    let now: @Sendable () -> Duration
    /// Waits until a time since the clock was created.
    let sleep: @Sendable (Duration) async -> Void

    /// Creates a clock from one that does not stop while the process is suspended.
    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try? await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}
