import Settle
import SettleTesting
import Testing

/// Random schedules with attribute clocks: wall clocks that differ by a day and are moved forward and back, and edits
/// by software without clocks.
@Suite struct ClockSimulationTests {
    // SEMANTICS 157, 158, 159, 163
    @Test(arguments: 0..<4)
    func `all replicas agree, and the latest change of each member is kept`(part: Int) throws {
        var options = SimulationOptions()
        options.attributeClocks = true
        options.steps = 6...24
        options.policies = [try #require(SimulatedPolicy.named("latestAttributeWins"))]
        let first = UInt64(part * 100)
        let failure = try Simulation(options).failure(in: first..<(first + 60))
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test func `a clock does not go back when its database is opened again`() throws {
        var options = SimulationOptions()
        options.attributeClocks = true
        options.kind = .file
        options.replicas = 3
        options.steps = 6...20
        options.policies = [try #require(SimulatedPolicy.named("latestAttributeWins"))]
        let failure = try Simulation(options).failure(in: 3000..<3012)
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test func `stamps that other software has dropped may be followed by earlier ones`() throws {
        var options = SimulationOptions()
        options.attributeClocks = true
        // A device edits a value with a clock that is a day ahead, and then again after the clocks were dropped.
        let failure = try Simulation(options).run(37681).failure
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    // SEMANTICS 166
    @Test(arguments: ["latestAttributeWinsDeletionsToo", "threeWayMerge", "deletesWin", "mostRevisions"])
    func `other policies still keep the rules where changes are stamped`(name: String) throws {
        var options = SimulationOptions()
        options.attributeClocks = true
        options.steps = 6...20
        options.policies = [try #require(SimulatedPolicy.named(name))]
        let failure = try Simulation(options).failure(in: 4000..<4030)
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test func `a policy that lets an earlier change win is found`() throws {
        var options = SimulationOptions()
        options.attributeClocks = true
        // It claims to use the clocks, and takes the winner.
        options.policies = [SimulatedPolicy("latestAttributeWins") { _ in .mostRevisions }]
        let failure = try #require(try Simulation(options).failure(in: 0..<100))
        #expect(failure.rule == .latestStays, "\(failure)")
        let again = try Simulation(options).run(failure.seed).failure
        #expect(again?.steps == failure.steps && again?.story == failure.story)
    }
}
