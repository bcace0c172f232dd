internal import Settle
internal import SettleFleet
internal import SettlePlatform

/// `settle-simulate --fleet`.
enum FleetCommand {
    /// The common progress of the fleets that run concurrently.
    private struct Progress: Sendable {
        var next = 0
        var seeds = 0
        var total = FleetOutcome()
        var failures: [FleetFailure] = []
    }

    /// Runs the seeds until one breaks a rule, or all of them.
    static func run(_ arguments: SimulationArguments) async throws -> Int32 {
        let clock = ContinuousClock()
        let start = clock.now
        let progress = Guarded(Progress())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<arguments.jobs { group.addTask { try await work(arguments, progress) } }
            try await group.waitForAll()
        }
        let done = progress.withLock(\.self)
        let first = done.failures.min { $0.seed < $1.seed }
        if let first, !arguments.goesOn {
            let failure = try await fleet(arguments).shrink(first)
            print("Broken after \(done.seeds) seeds\n\(failure)\nReplay it: \(arguments.replay(failure.seed))")
            return 1
        }
        let verdict = first == nil ? "All rules hold" : "\(done.failures.count) seeds break a rule"
        print(
            """
            \(verdict): \(done.seeds) seeds, \(done.total.edits) edits, quiet after at most \(done.total.rounds) rounds, in \
            \((clock.now - start).components.seconds) s
            """)
        return first == nil ? 0 : 1
    }

    private static func fleet(_ arguments: SimulationArguments) throws -> Fleet {
        try Fleet(FleetOptions(fault: arguments.fault))
    }

    /// Runs seeds one after the other, each of which no other fleet has taken.
    private static func work(_ arguments: SimulationArguments, _ progress: Guarded<Progress>) async throws {
        let fleet = try fleet(arguments)
        while true {
            let number = progress.withLock { progress -> Int? in
                guard progress.next < arguments.rounds, arguments.goesOn || progress.failures.isEmpty else {
                    return nil
                }
                progress.next += 1
                return progress.next - 1
            }
            guard let number else { return }
            let outcome = try await fleet.run(UInt64(arguments.seed + number))
            progress.withLock { progress in
                progress.seeds += 1
                progress.total.add(outcome)
                if let failure = outcome.failure { progress.failures.append(failure) }
            }
            if let failure = outcome.failure, arguments.goesOn {
                print("seed \(failure.seed) breaks the rule \(failure.rule.rawValue): \(failure.message)")
                fflush(nil)
            }
        }
    }
}
