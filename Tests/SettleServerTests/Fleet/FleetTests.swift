import SettleFleet
import Testing

/// Fleets of devices that edit documents of one server: a seed that breaks a rule says how it is repeated.
///
/// They run one by one, because a run hardly ever waits: several would take all threads that other tests' tasks have.
@Suite(.serialized, .timeLimit(.minutes(30))) struct FleetTests {
    @Test func `a fleet becomes quiet and equal and loses nothing`() async throws {
        let failure = try await Fleet().failure(in: 0..<80)
        #expect(failure == nil, "\(failure?.description ?? ""); repeat it: settle-simulate --fleet --rounds 1 --seed N")
    }

    @Test(arguments: PlantedFault.allCases)
    func `a fault of the server is found within two thousand seeds`(fault: PlantedFault) async throws {
        let found = try await Fleet(FleetOptions(fault: fault)).failure(in: 0..<2000)
        let failure = try #require(found, "no seed finds \(fault.rawValue)")
        let without = try await Fleet().failure(in: failure.seed..<failure.seed + 1)
        #expect(without == nil, "seed \(failure.seed) breaks a rule without the fault, too")
    }

    @Test(
        arguments: [
            395, 486, 772, 889, 1103, 1728, 2257, 2704, 3108, 3851, 4170, 5283, 6823, 9689, 13684, 39897, 79046,
        ]
            as [UInt64])
    func `a seed that has found a fault of the server or of the models holds`(seed: UInt64) async throws {
        let failure = try await Fleet().failure(in: seed..<seed + 1)
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test func `a failure is shown with as few steps as break the rule`() async throws {
        let fleet = try Fleet(FleetOptions(fault: .lostBlobs))
        let failure = try #require(try await fleet.failure(in: 0..<2000))
        let shrunk = try await fleet.shrink(failure)
        #expect(shrunk.rule == failure.rule && shrunk.seed == failure.seed)
        #expect(shrunk.story.count < failure.story.count && shrunk.devices.count <= failure.devices.count)
    }

    @Test func `a seed says the same when it is repeated`() async throws {
        let options = FleetOptions(fault: .unlistedBlobs)
        let first = try #require(try await Fleet(options).failure(in: 0..<2000))
        let second = try await Fleet(options).failure(in: first.seed..<first.seed + 1)
        #expect(second?.rule == first.rule && second?.devices == first.devices)
    }
}
