import SettleTesting
import Testing

@testable import SettleCore

/// The merge steps of random trees, against sets of revisions computed by the definition.
@Suite struct RevisionTreeMergeStepLawTests {
    private typealias Closed = [(revision: RevisionID, survivor: RevisionID)]

    /// A tree with its live leaves in any order, and closings of any of its revisions, including impossible ones.
    private func questions(_ seed: UInt64) -> [(tree: RevisionTree, leaves: [RevisionID], closed: Closed)] {
        var world = ReplicaWorld(seed: seed, steps: 80)
        return world.replicas.map { tree in
            let leaves = tree.leaves.map(\.revision).shuffled(using: &world.random)
            let closed = (0..<Int.random(in: 0...6, using: &world.random)).compactMap { _ in
                tree.revisions.randomElement(using: &world.random).flatMap { revision in
                    tree.revisions.randomElement(using: &world.random).map { (revision: revision, survivor: $0) }
                }
            }
            return (tree, leaves, closed)
        }
    }

    /// Everything that a revision has seen.
    private func past(of revision: RevisionID, in tree: RevisionTree, _ closed: Closed) -> Set<RevisionID> {
        var past: Set<RevisionID> = []
        var open = [revision]
        while let next = open.popLast() {
            guard tree.contains(next), past.insert(next).inserted else { continue }
            if let parent = tree.parent(of: next) { open.append(parent) }
            open += closed.filter { $0.survivor == next && $0.revision < next }.map(\.revision)
        }
        return past
    }

    /// The steps, by comparing all pairs each time.
    private func expected(_ tree: RevisionTree, _ leaves: [RevisionID], _ closed: Closed) -> [MergeStep] {
        var versions = leaves.enumerated().map { (position: $0.offset, past: past(of: $0.element, in: tree, closed)) }
        var steps: [MergeStep] = []
        while versions.count > 1 {
            let common = versions.indices.flatMap { first in
                versions.indices.dropFirst(first + 1).compactMap { second in
                    versions[first].past.intersection(versions[second].past).max()
                }
            }
            let base = common.max()
            let merged = versions.filter { version in base.map { version.past.contains($0) } ?? true }
            let past = merged.reduce(into: Set()) { $0.formUnion($1.past) }
            // No stemmed revision is higher than the base.
            let isCertain = past.allSatisfy { tree.parent(of: $0) != nil || $0.generation - 1 <= base?.generation ?? 0 }
            steps.append(MergeStep(base: base, versions: merged.map(\.position), isCertain: isCertain))
            versions.removeAll { version in merged.dropFirst().contains { $0.position == version.position } }
            versions = versions.map { $0.position == merged[0].position ? ($0.position, past) : $0 }
        }
        return steps
    }

    @Test(arguments: Seeds.all)
    func `the steps agree with the definition`(seed: UInt64) {
        for (tree, leaves, closed) in questions(seed) {
            #expect(tree.mergeSteps(of: leaves, closed: closed) == expected(tree, leaves, closed), "seed \(seed)")
        }
    }

    @Test(arguments: Seeds.all)
    func `every leaf is merged once, and bases only go back`(seed: UInt64) {
        for (tree, leaves, closed) in questions(seed) {
            let steps = tree.mergeSteps(of: leaves, closed: closed)
            var left = Set(leaves.indices)
            for step in steps {
                #expect(step.versions.count > 1 && step.versions == step.versions.sorted(), "seed \(seed)")
                #expect(left.isSuperset(of: step.versions), "seed \(seed)")
                left.subtract(step.versions.dropFirst())
            }
            #expect(left.count == min(1, leaves.count), "seed \(seed)")
            let bases = steps.map(\.base)
            for (earlier, later) in zip(bases, bases.dropFirst()) {
                #expect(later.map { later in earlier.map { later <= $0 } ?? false } ?? true, "seed \(seed)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `the order of leaves and closings changes only which leaf stands for the result`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for (tree, leaves, closed) in questions(seed) {
            let known = groups(tree.mergeSteps(of: leaves, closed: closed), leaves)
            for _ in 0..<5 {
                let order = leaves.shuffled(using: &random)
                let steps = tree.mergeSteps(of: order, closed: closed.shuffled(using: &random))
                #expect(groups(steps, order) == known, "seed \(seed)")
            }
        }
    }

    /// Which leaves are merged in each step, and on which base.
    private func groups(_ steps: [MergeStep], _ leaves: [RevisionID]) -> [[Set<RevisionID>]] {
        var made = leaves.map { Set([$0]) }
        return steps.map { step in
            let parts = step.versions.map { made[$0] }
            made[step.versions[0]] = parts.reduce([]) { $0.union($1) }
            let base = step.base.map { Set([$0]) } ?? []
            return [base] + parts.sorted { ($0.min() ?? leaves[0]) < ($1.min() ?? leaves[0]) }
        }
    }
}
