internal import Settle
internal import SettleFleet
internal import SettlePlatform

/// `settle-simulate --fleet`.
enum FleetCommand {
    /// Runs the seeds until one breaks a rule, or all of them.
    static func run(_ arguments: SimulationArguments) async throws -> Int32 {
        let fleet = try Fleet(FleetOptions(fault: arguments.fault))
        let clock = ContinuousClock()
        let start = clock.now
        var (total, seeds, broken) = (FleetOutcome(), 0, 0)
        while seeds < arguments.rounds {
            let outcome = try await fleet.run(UInt64(arguments.seed + seeds))
            seeds += 1
            total.add(outcome)
            guard let failure = outcome.failure else { continue }
            broken += 1
            guard arguments.goesOn else {
                print("Broken after \(seeds) seeds\n\(failure)\nReplay it: \(arguments.replay(failure.seed))")
                return 1
            }
            print("seed \(failure.seed) breaks the rule \(failure.rule.rawValue): \(failure.message)")
        }
        let verdict = broken == 0 ? "All rules hold" : "\(broken) seeds break a rule"
        print(
            """
            \(verdict): \(seeds) seeds, \(total.edits) edits, quiet after at most \(total.rounds) rounds, in \
            \((clock.now - start).components.seconds) s
            """)
        return broken == 0 ? 0 : 1
    }
}
