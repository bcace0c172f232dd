import SettleCore
import Testing

@Suite struct ThreeWayMergeLawTests {
    private let ruleSets = [MergeRules(), MergeWorld.rules]

    @Test(arguments: Seeds.all)
    func `versions that are equal merge to themselves`(seed: UInt64) {
        for world in MergeWorld.worlds(seed: seed) {
            for rules in ruleSets {
                for version in world.versions {
                    let outcome = ThreeWayMerge.merge(base: world.base, versions: [version, version], rules: rules)
                    #expect(outcome.merged?.text == version.text, "seed \(seed)")
                }
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `a version and the base merge to the version, in either order`(seed: UInt64) {
        for world in MergeWorld.worlds(seed: seed) {
            for rules in ruleSets {
                for version in world.versions where version != world.base {
                    for versions in [[version, world.base], [world.base, version]] {
                        let outcome = ThreeWayMerge.merge(base: world.base, versions: versions, rules: rules)
                        #expect(outcome.merged?.text == version.text, "seed \(seed)")
                        let editor = versions[0] == version ? 0 : 1
                        #expect(outcome.decisions.allSatisfy { $0.reason == .onlyOneChanged(editor) }, "seed \(seed)")
                    }
                }
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `without a clash, merging the outcome with a version again changes nothing`(seed: UInt64) {
        for world in MergeWorld.worlds(seed: seed, versions: 2) {
            let outcome = ThreeWayMerge.merge(base: world.base, versions: world.versions)
            guard let merged = outcome.merged, !outcome.decisions.contains(where: \.isClash) else {
                continue
            }
            for version in world.versions {
                for versions in [[merged, version], [version, merged]] {
                    let again = ThreeWayMerge.merge(base: world.base, versions: versions).merged
                    #expect(again?.normalized == merged.normalized, "seed \(seed)")
                }
            }
        }
    }

    // SEMANTICS 83
    @Test(arguments: Seeds.all)
    func `without a clash, the order of the versions makes no difference to members`(seed: UInt64) {
        for world in MergeWorld.worlds(seed: seed) {
            let outcome = ThreeWayMerge.merge(base: world.base, versions: world.versions)
            guard !outcome.decisions.contains(where: \.isClash) else {
                continue
            }
            for versions in world.versions.permutations {
                let other = ThreeWayMerge.merge(base: world.base, versions: versions).merged
                #expect(other?.normalized == outcome.merged?.normalized, "seed \(seed)")
            }
        }
    }

    // SEMANTICS 83
    @Test(arguments: Seeds.all)
    func `the order of the other versions makes no difference where the winner changed every clash`(seed: UInt64) {
        for world in MergeWorld.worlds(seed: seed) {
            let outcome = ThreeWayMerge.merge(base: world.base, versions: world.versions)
            let isWinners = outcome.decisions.allSatisfy { !$0.isClash || $0.versions[0] != $0.base }
            guard isWinners else {
                continue
            }
            for rest in Array(world.versions.dropFirst()).permutations {
                let other = ThreeWayMerge.merge(base: world.base, versions: world.versions.prefix(1) + rest).merged
                #expect(other?.normalized == outcome.merged?.normalized, "seed \(seed)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `sums and sets come out the same for every order of versions`(seed: UInt64) {
        for world in MergeWorld.worlds(seed: seed) {
            let merged = world.versions.permutations.map { versions in
                let outcome = ThreeWayMerge.merge(base: world.base, versions: versions, rules: MergeWorld.rules)
                let sum = outcome.decisions.first { $0.path == "/n" && $0.reason == .rule(.sum) }?.result
                let union = outcome.decisions.first { $0.path == "/t" && $0.reason == .rule(.union) }?.result
                return (sum: sum?.description, union: union?.array.map(Set.init))
            }
            #expect(merged.allSatisfy { $0.sum == merged[0].sum && $0.union == merged[0].union }, "seed \(seed)")
        }
    }

    // SEMANTICS 58
    @Test(arguments: Seeds.all)
    func `a value removed by one version alone stays removed, and one changed by one alone survives`(seed: UInt64) {
        for world in MergeWorld.worlds(seed: seed) {
            for rules in ruleSets {
                guard let merged = ThreeWayMerge.merge(base: world.base, versions: world.versions, rules: rules).merged
                else { continue }
                let names = Set(([world.base] + world.versions).flatMap(\.names).map { Array($0.utf8) })
                for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
                    let changes = world.versions.map { $0[name] }.filter { $0 != world.base[name] }
                    if Set(changes).count > 1 { continue }
                    if rules["/" + name]?.kind == .sum, changes.count > 1 { continue }
                    if rules["/" + name] != nil || name == "a", changes.count > 1 { continue }
                    let expected = changes.first ?? world.base[name]
                    #expect(merged[name]?.normalized == expected?.normalized, "\(name), seed \(seed)")
                }
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `every member that differs from the base has a decision, and no other`(seed: UInt64) {
        for world in MergeWorld.worlds(seed: seed) {
            let outcome = ThreeWayMerge.merge(base: world.base, versions: world.versions, rules: MergeWorld.rules)
            #expect(Set(outcome.paths).count == outcome.paths.count, "seed \(seed)")
            for decision in outcome.decisions {
                #expect(decision.versions.contains { $0 != decision.base }, "\(decision.path), seed \(seed)")
            }
            let changed = Set(([world.base] + world.versions).flatMap(\.names)).filter { name in
                world.versions.contains { $0[name] != world.base[name] }
            }
            let decided = outcome.decisions.filter { $0.path.dropFirst().utf8.allSatisfy { $0 != UInt8(ascii: "/") } }
            #expect(decided.count == changed.count, "seed \(seed)")
            if let merged = outcome.merged {
                for decision in decided {
                    let name = decision.path.dropFirst().replacing("~1", with: "/").replacing("~0", with: "~")
                    #expect(merged[String(name)]?.normalized == decision.result?.normalized, "seed \(seed)")
                }
            }
        }
    }

    // SEMANTICS 82
    @Test(arguments: Seeds.all)
    func `the same call gives the same bytes and decisions`(seed: UInt64) {
        for (world, copy) in zip(MergeWorld.worlds(seed: seed), MergeWorld.worlds(seed: seed)) {
            let first = ThreeWayMerge.merge(base: world.base, versions: world.versions, rules: MergeWorld.rules)
            let second = ThreeWayMerge.merge(base: copy.base, versions: copy.versions, rules: MergeWorld.rules)
            #expect(first == second && first.merged?.text == second.merged?.text, "seed \(seed)")
        }
    }
}

extension JSONObject {
    fileprivate var text: String { JSONValue.object(self).description }
    fileprivate var normalized: JSONValue { JSONValue.object(self).normalized }
}

extension MergeDecision {
    fileprivate var isClash: Bool {
        switch reason {
        case .onlyOneChanged, .sameChange, .mergedInside, .latest: false
        case .rule, .fellBack, .left: true
        }
    }
}
