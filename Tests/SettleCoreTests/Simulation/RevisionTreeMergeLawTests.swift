import SettleCore
import Testing

@Suite struct RevisionTreeMergeLawTests {
    @Test(arguments: Seeds.all)
    func `merging is commutative, associative and idempotent`(seed: UInt64) {
        let world = ReplicaWorld(seed: seed)
        let (first, second, third) = (world.replicas[0], world.replicas[1], world.replicas[2])
        let union = first.merging(second)
        #expect(union == second.merging(first), "seed \(seed)")
        #expect(union.packed() == second.merging(first).packed(), "seed \(seed)")
        #expect(union.merging(third) == first.merging(second.merging(third)), "seed \(seed)")
        #expect(union.merging(first) == union && union.merging(second) == union, "seed \(seed)")
        #expect(first.merging(first) == first, "seed \(seed)")
    }

    @Test(arguments: Seeds.all)
    func `merging agrees with the plain model`(seed: UInt64) {
        let world = ReplicaWorld(seed: seed)
        for left in world.replicas {
            for right in world.replicas {
                var model = ReferenceTree(left)
                model.merge(ReferenceTree(right))
                let difference = left.merging(right).difference(from: model)
                #expect(difference == nil, "seed \(seed): \(world.log)")
            }
        }
    }

    // SEMANTICS 60
    @Test(arguments: Seeds.all)
    func `merging loses no leaf that the other side has not edited`(seed: UInt64) {
        let world = ReplicaWorld(seed: seed)
        for left in world.replicas {
            for right in world.replicas {
                let union = left.merging(right)
                let edited = Set(right.revisions.compactMap { right.parent(of: $0) })
                let kept = left.leaves.filter { !edited.contains($0.revision) }
                for leaf in kept {
                    let found = union[leaf.revision]
                    #expect(found?.isLeaf == true, "\(leaf.revision) was lost, seed \(seed)")
                    #expect(found?.isDeleted == leaf.isDeleted, "\(leaf.revision), seed \(seed)")
                }
                #expect(union.missing(from: left.revisions + right.revisions).isEmpty, "seed \(seed)")
            }
        }
    }

    // SEMANTICS 199
    @Test(arguments: Seeds.all)
    func `sending every leaf's path is the same as merging`(seed: UInt64) {
        let world = ReplicaWorld(seed: seed)
        let source = world.replicas[0]
        var target = world.replicas[1]
        let union = target.merging(source)
        for leaf in source.leaves {
            guard let history = source.history(of: leaf.revision) else { continue }
            target.insert(history, isDeleted: leaf.isDeleted)
            #expect(target.brokenInvariant == nil, "seed \(seed)")
        }
        #expect(target.edges == union.edges, "seed \(seed): \(world.log)")
        #expect(target.leafNotation == union.leafNotation, "seed \(seed): \(world.log)")
    }

    // SEMANTICS 59, 62
    @Test(arguments: Seeds.all)
    func `replicas that have received all edits have equal trees`(seed: UInt64) {
        let world = ReplicaWorld(seed: seed)
        let orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map { order in
            order.reduce(into: RevisionTree()) { $0.merge(world.replicas[$1]) }
        }
        for tree in orders {
            #expect(tree.winner == orders[0].winner, "seed \(seed)")
            #expect(tree.packed() == orders[0].packed(), "seed \(seed)")
        }
    }
}
