import FuzzTargets
import SettleTesting
import Testing

/// A few thousand inputs in every test run; `make fuzz` runs more. Inputs that once failed are seeds.
@Suite struct FuzzSmokeTests {
    @Test(arguments: FuzzTarget.allCases)
    func `every seed keeps the laws`(target: FuzzTarget) throws {
        for (name, bytes) in try Corpus.seeds(of: target) {
            #expect(throws: Never.self, "\(target) \(name)") { try target.run(bytes) }
        }
    }

    @Test(arguments: zip(FuzzTarget.allCases, [5000, 5000, 5000, 5000, 5000, 5000, 400, 5000, 5000]))
    func `mutated seeds keep the laws`(target: FuzzTarget, count: Int) throws {
        let seeds = try Corpus.seeds(of: target).map(\.bytes)
        try #require(!seeds.isEmpty)
        for seed in 0..<count {
            var mutator = Mutator(seed: UInt64(seed))
            let input = mutator.mutate(
                seeds[mutator.random.below(seeds.count)], with: seeds[mutator.random.below(seeds.count)])
            #expect(throws: Never.self, "\(target) with seed \(seed)") { try target.run(input) }
        }
    }
}
