import SettleCore
import Testing

@Suite struct PackedTreeLawTests {
    @Test(arguments: Seeds.all)
    func `every tree is read back from its packed form, marks included`(seed: UInt64) throws {
        for steps in [5, 15, 40, 120] {
            for replica in ReplicaWorld(seed: seed, steps: steps).replicas {
                let packed = replica.packed()
                let read = try RevisionTree(packed: packed)
                #expect(read == replica, "seed \(seed)")
                #expect(read.packed() == packed, "seed \(seed)")
                #expect(read.hashValue == replica.hashValue, "seed \(seed)")
            }
        }
    }

    @Test(arguments: Seeds.all)
    func `trees with equal bytes are equal, and others are not`(seed: UInt64) {
        let replicas = ReplicaWorld(seed: seed).replicas + ReplicaWorld(seed: seed, steps: 39).replicas
        for first in replicas {
            for second in replicas {
                #expect((first == second) == (first.packed() == second.packed()), "seed \(seed)")
            }
        }
    }

    @Test func `the worlds of the property tests hold every kind of node`() {
        let nodes = (1...40).flatMap { ReplicaWorld(seed: $0).replicas.flatMap(\.allNodes) }
        #expect(nodes.contains { $0.isLeaf && $0.isDeleted })
        #expect(nodes.contains { !$0.isLeaf && $0.isDeleted })
        #expect(nodes.contains { $0.isShared && $0.bodyToken > 127 })
        #expect(Set(nodes.map(\.marks.rawValue)) == Set(0...7))
        #expect(Set(nodes.map { $0.revision.signature.rawBytes.count }) == [3, 16, 40])
        let trees = (1...40).flatMap { ReplicaWorld(seed: $0).replicas }
        #expect(trees.contains { $0.isConflicted && $0.deletedConflicts.count > 1 })
        let roots = trees.map { tree in tree.revisions.filter { tree.parent(of: $0) == nil } }
        #expect(roots.contains { $0.count > 2 && ($0.last?.generation ?? 0) > 3 })
    }
}
