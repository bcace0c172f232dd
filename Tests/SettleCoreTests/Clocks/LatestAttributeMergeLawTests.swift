import SettleCore
import Testing

@Suite struct LatestAttributeMergeLawTests {
    private func merge(_ versions: [JSONObject]) throws -> JSONObject {
        let outcome = try #require(LatestAttributeMerge.merge(versions, base: nil))
        return try #require(outcome.merged)
    }

    // SEMANTICS 157, 163
    @Test(arguments: Seeds.all)
    func `the order of the versions does not change the merge`(seed: UInt64) throws {
        for part in 0..<8 {
            let world = ClockedWorld(seed: seed &* 100 &+ UInt64(part))
            let merged = try merge(world.versions).sorted
            for versions in world.versions.permutations {
                #expect(try merge(versions).sorted == merged, "seed \(seed), part \(part)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `the grouping of the versions does not change the merge`(seed: UInt64) throws {
        for part in 0..<8 {
            let world = ClockedWorld(seed: seed &* 100 &+ UInt64(part))
            let merged = try merge(world.versions).sorted
            for versions in world.versions.permutations {
                let first = try merge([versions[0], versions[1]])
                #expect(try merge([first, versions[2]]).sorted == merged, "seed \(seed), part \(part)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `merging again changes no byte`(seed: UInt64) throws {
        for part in 0..<8 {
            let world = ClockedWorld(seed: seed &* 100 &+ UInt64(part))
            for version in world.versions { #expect(try merge([version, version]) == version, "seed \(seed)") }
            let merged = try merge(world.versions)
            for version in world.versions {
                #expect(try merge([merged, version]) == merged, "seed \(seed), part \(part)")
                #expect(try merge([version, merged]).sorted == merged.sorted, "seed \(seed), part \(part)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `reading and writing a document keeps its clocks`(seed: UInt64) throws {
        for version in ClockedWorld(seed: seed).versions {
            #expect(ClockedDocument(version).document == version, "seed \(seed)")
        }
    }
}
