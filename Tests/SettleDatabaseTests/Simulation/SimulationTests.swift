import Settle
import SettleTesting
import Testing

/// Random schedules with all policies, and planted faults that have to be found.
@Suite struct SimulationTests {
    /// Five runs of a hundred seeds each, so that cores are used; `settle-simulate` tries as many as one likes.
    @Test(arguments: 0..<5)
    func `no edit is lost and all replicas agree after any schedule`(part: Int) throws {
        var options = SimulationOptions()
        options.steps = 6...20
        let first = UInt64(part * 100)
        let failure = try Simulation(options).failure(in: first..<(first + 100))
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test(arguments: SimulatedPolicy.all.map(\.name))
    func `each policy alone keeps the rules`(name: String) throws {
        var options = SimulationOptions()
        options.steps = 6...20
        options.policies = [try #require(SimulatedPolicy.named(name))]
        let failure = try Simulation(options).failure(in: 1000..<1010)
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test func `databases in files keep the rules too`() throws {
        var options = SimulationOptions()
        options.kind = .file
        options.replicas = 3
        options.steps = 6...20
        let failure = try Simulation(options).failure(in: 2000..<2012)
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test(arguments: PlantedFaults.all)
    func `a planted fault is found within a hundred seeds`(
        fault: SimulatedPolicy, rules: Set<SimulationRule>
    ) throws {
        var options = SimulationOptions()
        options.replicas = 3
        options.policies = [fault]
        let failure = try #require(try Simulation(options).failure(in: 0..<100), "\(fault.name) is not found")
        #expect(rules.contains(failure.rule), "\(failure)")
        // The shrunk schedule is short, and can be replayed.
        #expect(failure.steps.count < 15)
        let again = try Simulation(options).run(failure.seed).failure
        #expect(again?.rule == failure.rule && again?.steps == failure.steps && again?.story == failure.story)
    }

    @Test func `without the fault the same seeds keep the rules`() throws {
        var options = SimulationOptions()
        options.replicas = 3
        options.policies = ["mostRevisions", "clock", "localWins"].compactMap(SimulatedPolicy.named)
        let failure = try Simulation(options).failure(in: 0..<40)
        #expect(failure == nil, "\(failure?.description ?? "")")
    }
}
