import SettleCore
import Testing

/// COUCHDB-FACTS 36.
@Suite struct RevisionTreePurgeLawTests {
    @Test(arguments: Seeds.all)
    func `purging drops exactly the given leaves and the ancestors of these alone`(seed: UInt64) {
        var world = ReplicaWorld(seed: seed)
        for replica in world.replicas {
            for _ in 0..<4 {
                let asked = replica.revisions.filter { _ in world.random.chance(40) } + ["77-unknown"]
                var (purged, model) = (replica, ReferenceTree(replica))
                let dropped = purged.purge(asked)
                model.purge(asked)
                #expect(purged.difference(from: model) == nil, "\(asked), seed \(seed)")
                let left = replica.leaves.filter { !asked.contains($0.revision) }
                #expect(purged.leaves.map(\.revision) == left.map(\.revision), "\(asked), seed \(seed)")
                let all = (dropped.map(\.revision) + purged.revisions).sorted()
                #expect(all == replica.revisions, "\(asked), seed \(seed)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `purging leaves one by one is the same as purging them at once`(seed: UInt64) {
        var world = ReplicaWorld(seed: seed)
        for replica in world.replicas {
            let asked = replica.leaves.map(\.revision).filter { _ in world.random.chance(50) }
            var (atOnce, oneByOne) = (replica, replica)
            atOnce.purge(asked)
            for leaf in asked.shuffled(using: &world.random) {
                oneByOne.purge([leaf])
                #expect(oneByOne.brokenInvariant == nil, "seed \(seed)")
            }
            #expect(oneByOne == atOnce, "\(asked), seed \(seed)")
        }
    }

    @Test(arguments: Seeds.all)
    func `purging every leaf empties the tree`(seed: UInt64) {
        for replica in ReplicaWorld(seed: seed).replicas {
            var purged = replica
            #expect(purged.purge(replica.leaves.map(\.revision)) == replica.allNodes, "seed \(seed)")
            #expect(purged == RevisionTree(), "seed \(seed)")
        }
    }
}
