internal import Settle
internal import SettleFleet
internal import SettlePlatform

/// `settle-simulate --fleet`.
enum FleetCommand {
    /// Runs the seeds until one breaks a rule.
    static func run(_ arguments: SimulationArguments) throws -> Int32 {
        let fleet = try Fleet(FleetOptions(fault: arguments.fault))
        let clock = ContinuousClock()
        let start = clock.now
        var (total, seeds) = (FleetOutcome(), 0)
        while seeds < arguments.rounds, total.failure == nil {
            total.add(try fleet.run(UInt64(arguments.seed + seeds)))
            seeds += 1
        }
        if let failure = total.failure {
            print("Broken after \(seeds) seeds\n\(failure)\nReplay it: \(arguments.replay(failure.seed))")
            return 1
        }
        print(
            """
            All rules hold: \(seeds) seeds, \(total.edits) edits, quiet after at most \(total.rounds) rounds, in \
            \((clock.now - start).components.seconds) s
            """)
        return 0
    }
}
