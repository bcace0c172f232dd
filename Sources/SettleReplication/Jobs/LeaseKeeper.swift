internal import Dispatch
internal import SettleDatabase
internal import SettlePlatform

/// Keeps the leases of what this node runs: it performs what a ``LeaseKeeping`` decides.
///
/// Calls on the storage are made on threads of their own, and a lease ends by this node's clock while they wait.
final class LeaseKeeper: Sendable {
    /// What is done under leases. The closures return quickly.
    struct Work: Sendable {
        /// How jobs of this node do; those that are missing do nothing.
        let standings: @Sendable ([LeaseName]) -> [LeaseName: LeaseKeeping.Standing]
        /// What other nodes are to know of a job.
        let status: @Sendable (LeaseName) -> [UInt8]?
        /// Starts what a lease allows.
        let start: @Sendable (LeaseName) -> Void
        /// Ends it, at once or when it has stored what it has, and calls a closure when it has ended.
        let end: @Sendable (LeaseName, _ atOnce: Bool, _ ended: @escaping @Sendable () -> Void) -> Void
        /// Called with problems, and what they are about.
        let warn: @Sendable (String, LeaseName?) -> Void
    }

    private struct State {
        var keeping: LeaseKeeping
        var databases: [String: any JobLeases] = [:]
        var listed: [String: [LeaseName: LeasedJob]] = [:]
        /// Databases whose leases could not be reached the last time.
        var unreached: Set<String> = []
        var isTicking = false
    }

    /// The name of this node.
    let node: String
    private let work: Work
    private let state: Guarded<State>
    private let calls = DispatchQueue(label: "settle.leases", attributes: .concurrent)
    private let clock: LeaseClock

    /// - Parameters:
    ///   - node: The name of this node.
    ///   - room: How many jobs it runs at the same time.
    ///   - clock: Measures how old leases are.
    ///   - work: What is done under leases.
    init(node: String, room: Int, clock: LeaseClock, work: Work) {
        (self.node, self.clock, self.work) = (node, clock, work)
        state = Guarded(State(keeping: LeaseKeeping(node: node, room: room)))
    }

    /// Says where a database has its leases.
    func use(_ leases: any JobLeases, of database: String) { state.withLock { $0.databases[database] = leases } }

    /// Asks for a lease, until as many calls of ``unwant(_:)`` follow.
    func want(_ name: LeaseName) { handle(.wanted(name)) }

    /// Asks for a lease no more.
    func unwant(_ name: LeaseName) { handle(.unwanted(name)) }

    /// Gives back the lease of what can't be done here now. It is taken again, here or elsewhere, as long as it is wanted.
    func refuse(_ name: LeaseName) { handle(.refused(name)) }

    /// Whether a run may begin now.
    func allows(_ name: LeaseName) -> Bool { state.withLock { $0.keeping.allows(name, at: clock.now()) } }

    /// The lease of a name, if this node has it now.
    func lease(of name: LeaseName) -> JobLease? { state.withLock { $0.keeping.lease(of: name, at: clock.now()) } }

    /// What the storage said last of a name's lease; `nil` if no node had it.
    func listed(_ name: LeaseName) -> LeasedJob? { state.withLock { $0.listed[name.database]?[name] } }

    /// Takes no more leases.
    func stop() { handle(.stopping) }

    /// Stops keeping leases.
    ///
    /// - Parameter areEnded: Whether all runs have ended; then the leases are given back, and this waits until that is done.
    ///   Else they run out.
    func finish(areEnded: Bool) {
        let actions = state.withLock { $0.keeping.handle(.stopped, at: clock.now()) }
        for case .release(let database, let leases) in actions where areEnded { release(leases, of: database) }
    }

    private func handle(_ event: LeaseKeeping.Event) {
        for action in state.withLock({ $0.keeping.handle(event, at: clock.now()) }) { perform(action) }
        tick()
    }
}

/// Time, and calls.
extension LeaseKeeper {
    /// Lets time pass until there is nothing to wait for.
    private func tick() {
        let begins = state.withLock { state in
            guard !state.isTicking, state.keeping.nextTime(after: clock.now()) != nil else { return false }
            state.isTicking = true
            return true
        }
        guard begins else { return }
        Task { [weak self, clock] in
            while let delay = self?.nextDelay() {
                await clock.sleep(delay)
                self?.look()
            }
        }
    }

    private func nextDelay() -> Duration? {
        state.withLock { state in
            let now = clock.now()
            guard let time = state.keeping.nextTime(after: now) else {
                state.isTicking = false
                return nil
            }
            return max(time - now, .zero)
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
        // If it fails, they run out.
        try? state.withLock({ $0.databases[database] })?.release(leases)
    }

    /// Makes a call, and hands on what it returned; `nil` if it failed.
    private func call<Answer: Sendable>(
        _ database: String, _ body: @escaping @Sendable (any JobLeases) throws -> Answer,
        then: @escaping @Sendable (LeaseKeeper, Answer?) -> Void
    ) {
        calls.async { [self] in
            var answer: Answer?
            do {
                answer = try state.withLock { $0.databases[database] }.map(body)
                state.withLock { _ = $0.unreached.remove(database) }
            } catch let error as DatabaseError where error.code == .closed {
                // The caller that closed it forgets its documents.
            } catch {
                let isNew = state.withLock { $0.unreached.insert(database).inserted }
                if isNew { work.warn("the leases of the replications of \(database) can't be reached: \(error)", nil) }
            }
            then(self, answer)
        }
    }
}

// MARK: - LeaseClock

/// The clock by which a node measures how old its leases are.
struct LeaseClock: Sendable {
    /// The time since the value was made.
    let now: @Sendable () -> Duration
    /// Waits.
    let sleep: @Sendable (Duration) async -> Void

    /// Makes a clock on one that goes on while the process is suspended.
    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try? await clock.sleep(for: $0) }
    }
}
